"""Line files and the lines in them."""
