"""The parameters of QuorumRegressor.

Made by python/generate_parameters.py from the library's option table; do not edit.
"""
from sklearn.base import BaseEstimator


class Parameters(BaseEstimator):
    """Parameters
    ----------
    share : {"none", "theta"}, default='none'
        What several targets have in common. theta: kernel, metric, length-scales and noise are
        learned once, from the sum of the standardised targets, with the rows that have all of
        them; spread and calibration are each target's own. Further targets then cost little, in
        the fit and with method nearest in predictions; for targets that depend on the inputs in
        the same way.
    missing : {"error", "drop", "nan", "impute"}, default='error'
        Rows with a missing or unusable cell: stop with an error, or drop and count them. nan,
        for predictions: keep them, with empty cells, so that results have the rows of the
        queries. impute: fill missing inputs, with wider intervals there; predictions can if the
        fit did.
    encoding : {"position", "distance", "auto"}, default='position'
        What the levels of a category are to the model. position: one number each, their effect
        on the target; distance: any two are as far from each other as any others, with one
        length-scale a category (of up to 64 levels, others have positions); auto: what predicts
        rows better that are held out of a small fit of each, where there are up to 64 levels in
        all.
    unseen : {"predict", "error"}, default='predict'
        Rows with a level of a category that was not in the training data: predict it as one
        more of its kind, with the variance that this leaves, or stop with an error.
    periodic : str, default='none'
        Adds sine and cosine of the column as inputs, so that what a period brings back is near.
        PERIOD: hour, day, week or year of dates, or a number in the column's units; auto: of
        dates, day, week and year where the rows span two and are spread over one.
    lonlat : str, default='none'
        Two columns are a longitude and a latitude in degrees. The model then measures by the
        distance on the sphere: inputs are the three coordinates of the place, the date line is
        no border, and a degree of longitude is shorter near the poles.
    n_experts : int or None, default=None
        Number of experts; 1 is the exact GP. None: as many as expert_size asks for. From 1 to
        1e+08.
    expert_size : int, default=500
        Rows an expert should have when n_experts is None. Training time grows with its square,
        memory with its square, accuracy slowly. From 1 to 1e+06.
    partition : {"kmeans", "kdtree", "random", "communication"}, default='kmeans'
        How rows are split among experts: kmeans makes compact parts, kdtree boxes of equal
        size, random equal samples of everything, communication one such sample and compact
        parts.
    min_size : int or None, default=None
        Smaller parts are merged with their nearest. None: a tenth of the mean size. From 1 to
        1e+08.
    max_size : int or None, default=None
        Larger parts are split. None: twice the mean size. From 1 to 1e+08.
    overlap : float, default=0.0
        Near rows of other parts that each expert also holds, as a share of its own: 1 doubles
        every expert. More accurate with npae, which takes shared rows into account, at (1 +
        F)^2 times the time and memory; the other rules count shared rows more than once. From 0
        to 1e+06.
    kernel : {"se", "matern12", "matern32", "matern52", "matern32x2", "matern32x3", "matern52x2", "auto"}, default='auto'
        Covariance function, with one length-scale per input (x2: a short and a long component,
        x3: one that is longer still); auto: the one that predicts left-out training rows best
        (se when theta is given).
    theta : array-like or str or None, default=None
        Fixed hyperparameters in standardised units: the inputs' length-scales (or one for all),
        signal variance, noise variance; of a kernel with several scales also the share of all
        but the shortest and how many times as far each reaches as the one before it. Skips
        training. A sequence of numbers, or text.
    train : {"neighbours", "parts", "random", "subset"}, default='neighbours'
        What hyperparameters are trained on: small blocks of rows, each given its nearest
        earlier rows; the experts' own parts, as in the paper; random parts of expert_size rows;
        or one random subset.
    train_rows : int, default=20000
        Rows that train=neighbours looks at, out of all; their neighbours come on top. From 1 to
        1e+09.
    metric : {"auto", "ard", "linear"}, default='auto'
        What distances between rows are measured in: every input by its own length-scale (ard),
        or directions in the inputs, each by its own (linear), found from where the target
        changes. auto: with train=neighbours, directions where rows left out are predicted
        better by them.
    partition_metric : {"learned", "input"}, default='learned'
        Distances by which rows are split among experts: those of the metric and its
        length-scales, or of standardised inputs as they are.
    trend : {"auto", "none", "constant", "linear"}, default='constant'
        What predictions return to away from the data: 0, the target's mean, or a line in the
        inputs, whose uncertainty then widens intervals. auto: with train=neighbours, the line
        where rows left out, above all with the rows around them, are predicted better with it;
        else the mean.
    warp : {"none", "log", "auto"}, default='none'
        What of the target is modelled: the target itself, or its logarithm, for a target that
        is not negative and has a heavy tail, such as a price, a count or a rate; predictions
        are of the target either way. auto: with train=neighbours, the logarithm of such a
        target where rows left out have a higher density by it, and no larger squared errors.
    input_warp : {"none", "asinh"}, default='none'
        What of the inputs is modelled: the inputs themselves, or with asinh those that have
        heavy tails, such as sums of money, populations or counts, bent: straight around their
        median, logarithms far from it on either side. For tables in which a few rows are so
        large that all others are alike beside them.
    train_experts : int or None, default=None
        With train=parts, experts, drawn at random, that hyperparameters are trained on; with
        train=random, the number of random parts. None: all, or 100 when there are more. From 1
        to 1e+08.
    restarts : int, default=0
        Further starting points of the training. Starts are added by themselves when nothing
        better than noise is found. From 0 to 4.
    max_evaluations : int, default=200
        Likelihood evaluations per start at most. From 1 to 1e+06.
    tolerance : float, default=1e-06
        Training stops when the objective (NLML per row) changes relatively by less than this.
        From 0 to 1.
    spread : str, default='auto'
        Whether the variance of a prediction with neighbours follows how surprising the rows
        around it are, against NU rows that are as expected; none: it does not. auto: what
        predicts left-out training rows best, and beyond the rows what rows left out with all
        rows beyond them say; none with train=parts or when theta is given.
    local_noise : {"auto", "yes", "no"}, default='auto'
        Whether a prediction from nearest rows takes the noise that the rows around it have, a
        multiple of the model's, or the model's noise everywhere. auto: what predicts left-out
        training rows better; no with train=parts, few rows or when theta is given.
    graph : {"auto", "glasso", "lasso", "none"}, default='auto'
        How the graph of experts is learned: glasso, the graphical lasso; lasso, neighbourhood
        selection by lasso regressions; none, not at all (experts are then ranked by the
        variance they explain). auto: by the graphical lasso, but not before something asks for
        it, such as a prediction with select graph:A, since the default prediction does not.
    alpha : float or str, default='rel:0.1'
        Sparsity penalty of the graph: absolute (0.1 in the paper), relative to the largest
        covariance between two experts, or chosen by the extended BIC. A number is absolute;
        "rel:V" and "ebic" are text. Called lambda elsewhere.
    free_diagonal : bool, default=False
        Leave the diagonal of the precision matrix unpenalised.
    graph_rows : int, default=1000
        Training inputs, drawn at random, at which the experts' predictions are compared. From 2
        to 1e+06.
    method : str, default='auto'
        How a query is predicted: nearest, from its nearest rows; cells, by the experts of the
        cells around it, for many queries; or by experts that are joined by npae, groups, ggm,
        grbcm, rbcm, bcm, gpoe, gpoe-entropy, poe or single. NAME* means NAME with select
        graph:0.8. auto: the exact GP where the model is one expert, otherwise nearest, or cells
        where the fit found them as good and cheaper; with select, npae of those experts.
    select : str, default='auto'
        Experts that take part: all; graph:A, the share A that is most important in the graph
        (also best:A); worst:A, the least important; expert:I, one alone; local:K, the K that
        explain most at each query; local:auto, as many as still help; knn:K, the K with the
        nearest centres; graph:A+local:K. auto: all; local:4 where method is auto and neighbours
        0. It does not go with nearest, of which none is an old spelling, nor with cells. The
        paper's share alpha of the experts is "graph:ALPHA".
    neighbours : int or str, default='auto'
        Nearest training rows of a query that nearest predicts from, or that make an expert of
        the query's own for npae, joined with the others; 0: none. auto: for nearest as many as
        the fit found to be enough, 512 at most; for cells, whose experts have so many rows, a
        quarter more; otherwise none. A number, or "auto".
    space : {"latent", "observed"}, default='latent'
        Whether independent-expert rules aggregate the latent function and add the noise once,
        or aggregate noisy predictions as much of the literature does. nearest, cells and npae
        are always latent.
    graph_on : {"train", "test"}, default='train'
        Inputs behind the expert graph: the model's own training sample, or the queries of this
        call as in the paper (a row's prediction then depends on its batch).
    interval_shape : {"auto", "symmetric"}, default='auto'
        Whether the ends of calibrated intervals come each from its own side of the held-out
        errors (auto), or lie at the same distance from the mean.
    calibration : {"auto", "off"}, default='auto'
        Whether std and intervals use what calibrate=True found; it holds for the prediction
        that it was made for.
    latent : bool, default=False
        Leave the noise out of std and interval: they describe the function, not new data.
    calibrate : bool or "strict" or "auto", default='auto'
        Predict some training rows from the others and keep how they are distributed about their
        predictions, so that a 95 % interval covers 95 %; strict: rows that hyperparameters are
        not trained on. It holds for predictions by this method, select, neighbours and space; a
        fit uses those options for nothing else. auto: of the default prediction, by 2,000 rows
        left out in turn, where train is neighbours and there are 2,000 rows or more, or of 200
        rows or more with at most 50 for each input and level by fits to four fifths of them.
    checkpoint : str or None, default=None
        File that keeps the state of the training after each evaluation. A fit that was broken
        off goes on from there when it is started again with the same data and options, and
        gives the same model; quorum fit removes the file when the model is written.
    start : str or None, default=None
        Model file that training starts from: with its kernel and metric, unless they are given,
        and its length-scales and variances in the units of these rows, instead of a first look
        and a comparison of kernels. For data that have moved away from a model that was
        updated.
    random_state : int, RandomState or None, default=None
        Seed of everything random; the same seed gives the same model. From 0 to 9.0072e+15. An
        int, or a RandomState that is asked for one. None: 1, as on the command line, so that a
        fit can be repeated.
    n_jobs : int or None, default=None
        Threads, of each process with quorum-mpi. None: all processors, divided among the
        processes of a machine. Results do not depend on it. From 1 to 256. -1: all processors,
        -2: all but one, and so on.
    memory : int or str or None, default=None
        Memory to stay within, as in 800M or 4G, of each process with quorum-mpi. None: half of
        the machine's, divided among the processes on it. From 1e+07 to 1e+15. A number of
        bytes, or text such as "4G".
    verbose : int, default=0
        1: lines of progress on standard error; 2: all of them; 0: none.
    """

    def __init__(
        self,
        *,
        share='none',
        missing='error',
        encoding='position',
        unseen='predict',
        periodic='none',
        lonlat='none',
        n_experts=None,
        expert_size=500,
        partition='kmeans',
        min_size=None,
        max_size=None,
        overlap=0.0,
        kernel='auto',
        theta=None,
        train='neighbours',
        train_rows=20000,
        metric='auto',
        partition_metric='learned',
        trend='constant',
        warp='none',
        input_warp='none',
        train_experts=None,
        restarts=0,
        max_evaluations=200,
        tolerance=1e-06,
        spread='auto',
        local_noise='auto',
        graph='auto',
        alpha='rel:0.1',
        free_diagonal=False,
        graph_rows=1000,
        method='auto',
        select='auto',
        neighbours='auto',
        space='latent',
        graph_on='train',
        interval_shape='auto',
        calibration='auto',
        latent=False,
        calibrate='auto',
        checkpoint=None,
        start=None,
        random_state=None,
        n_jobs=None,
        memory=None,
        verbose=0,
    ):
        self.share = share
        self.missing = missing
        self.encoding = encoding
        self.unseen = unseen
        self.periodic = periodic
        self.lonlat = lonlat
        self.n_experts = n_experts
        self.expert_size = expert_size
        self.partition = partition
        self.min_size = min_size
        self.max_size = max_size
        self.overlap = overlap
        self.kernel = kernel
        self.theta = theta
        self.train = train
        self.train_rows = train_rows
        self.metric = metric
        self.partition_metric = partition_metric
        self.trend = trend
        self.warp = warp
        self.input_warp = input_warp
        self.train_experts = train_experts
        self.restarts = restarts
        self.max_evaluations = max_evaluations
        self.tolerance = tolerance
        self.spread = spread
        self.local_noise = local_noise
        self.graph = graph
        self.alpha = alpha
        self.free_diagonal = free_diagonal
        self.graph_rows = graph_rows
        self.method = method
        self.select = select
        self.neighbours = neighbours
        self.space = space
        self.graph_on = graph_on
        self.interval_shape = interval_shape
        self.calibration = calibration
        self.latent = latent
        self.calibrate = calibrate
        self.checkpoint = checkpoint
        self.start = start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
