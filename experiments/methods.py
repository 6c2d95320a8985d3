"""The paper's names for methods, and what they are here."""

PARTS = {"kmeans": "K-means parts", "random": "random parts"}
PLAIN = {"PoE": "poe", "GPoE": "gpoe", "BCM": "bcm", "RBCM": "rbcm", "GRBCM": "grbcm"}


def rows_of(name, alpha=0.8):
    """The paper's name as columns of scores.csv: independent rules aggregate noisy predictions."""
    if name.startswith("NPAE"):
        if "(" in name:
            alpha = name[name.index("(") + 1:-1]
        return {"method": "npae", "select": f"graph:{alpha}" if "*" in name else "all",
                "space": "latent"}
    return {"method": PLAIN[name.rstrip("*")], "space": "observed",
            "select": "graph:0.8" if "*" in name else "all"}


def kind(name):
    return "D" if name.startswith("NPAE") else "CI"
