"""scikit-learn: fitted models, predictions, pipelines."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, Y = make_classification(200, 8, random_state=0)


def linear_model():
    return LinearRegression().fit(X, Y)


def predictions():
    return LogisticRegression().fit(X, Y).predict_proba(X)


def clusters():
    return KMeans(3, n_init=1, random_state=0).fit(X).labels_


def components():
    return PCA(3).fit_transform(X)


def pipeline():
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)


def scores():
    return cross_val_score(LogisticRegression(), X, Y, cv=3)


def forest_in_threads():
    return RandomForestClassifier(10, n_jobs=2, random_state=0).fit(X, Y).predict(X)


def neighbours():
    return KNeighborsClassifier().fit(X, Y).predict(X)


def confusion():
    return confusion_matrix(Y, LogisticRegression().fit(X, Y).predict(X))


def of_a_model():
    model = LogisticRegression().fit(X, Y)
    return model.predict, (np.ascontiguousarray(X),)
