"""Water networks simulated: leaks put on pipes, and what loggers would see."""
