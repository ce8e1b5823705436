"""The same padding in another form: passes, the pipeline that runs them, the search for a target."""
