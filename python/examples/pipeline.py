"""A pipeline with missing values and categories, tuned by cross-validation, kept in a pickle."""
import pickle
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from quorum import QuorumRegressor, QuorumWarning

warnings.simplefilter("ignore", QuorumWarning)
rng = np.random.default_rng(0)
frame = pd.DataFrame({"depth": rng.uniform(0, 10, 1200), "age": rng.uniform(0, 5, 1200),
                      "rock": rng.choice(["granite", "basalt", "chalk"], 1200)})
target = (np.sin(frame.depth) + 0.3 * frame.age + (frame.rock == "chalk")
          + 0.1 * rng.standard_normal(1200))
frame.loc[rng.choice(1200, 30, replace=False), "age"] = np.nan
train, test, y_train, y_test = train_test_split(frame, target, random_state=0)

prepare = make_column_transformer((SimpleImputer(), ["depth", "age"]), (OneHotEncoder(), ["rock"]))
pipeline = make_pipeline(prepare, QuorumRegressor(kernel="se"))
search = GridSearchCV(pipeline, {"quorumregressor__n_experts": [1, 4],
                                 "quorumregressor__method": ["grbcm", "npae"]}, cv=3)
search.fit(train, y_train)
print("best:", search.best_params_)
again = pickle.loads(pickle.dumps(search))
print(f"R2 on the test rows {again.score(test, y_test):.3f}")
