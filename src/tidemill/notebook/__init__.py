"""What notebooks show: objects as HTML, charts as SVG, and cells of SQL. IPython is not needed."""
