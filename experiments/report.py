def write(experiment, setup, cells, results, runner):
    return setup.folder
