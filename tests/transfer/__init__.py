"""What is done with a finished match: data carried, and the template fitted."""
