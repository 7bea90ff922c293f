"""Prints what TensorBoard itself reads from a folder: lines of `TAG STEP VALUE`, texts as their first line.

usage: read_events.py FOLDER
"""
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import plugin_data_pb2

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
events.Reload()
for tag in events.Tags()["scalars"]:
    for point in events.Scalars(tag):
        print(tag, point.step, "%.6g" % point.value)
for tag in events.Tags()["tensors"]:
    metadata = events.SummaryMetadata(tag)
    for point in events.Tensors(tag):
        if metadata.plugin_data.plugin_name == "hparams":
            data = plugin_data_pb2.HParamsPluginData.FromString(metadata.plugin_data.content)
            for name, value in sorted(data.session_start_info.hparams.items()):
                print(tag, name, getattr(value, value.WhichOneof("kind")))
            if data.HasField("session_end_info"):
                print(tag, "status", data.session_end_info.status)
            continue
        text = point.tensor_proto.string_val
        if text:
            print(tag, metadata.plugin_data.plugin_name, text[0].decode().splitlines()[-1])
        else:
            print(tag, point.step, "%.6g" % point.tensor_proto.float_val[0])
