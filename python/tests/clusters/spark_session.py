"""A Spark session for tests: on this machine alone, quiet, and in the interpreter of the tests."""

import os
import sys

from pyspark.sql import SparkSession


def session(master: str) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(master).appName("truebloom")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.log.level": "ERROR",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
