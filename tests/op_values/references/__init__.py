"""What ops mean, in NumPy."""
