"""Several judges that answer as one. Each composition is a judge like any other, made of judges."""
