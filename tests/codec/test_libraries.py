"""Values of numpy, pandas, PIL, dateutil and llama-index come back the same."""

from __future__ import annotations

import datetime as dt
import importlib.util
import io
import pathlib
import subprocess
import sys
import zoneinfo

import numpy as np
import pandas as pd
import pytest
from dateutil import tz
from PIL import Image

from jupyter_wfresume import codec
from jupyter_wfresume.codec import MemoryBlobs, digest, encode
from jupyter_wfresume.errors import CannotKeepError
from tests.codec import kinds
from tests.codec.same import same
from tests.codec.trip import trip

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


def read_only() -> np.ndarray:
    """An array that must not be written to."""
    value = np.arange(3)
    value.flags.writeable = False
    return value


ARRAYS = [
    np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array(3),
    np.zeros((0, 3)),
    np.array(["a", "bcd"]), np.array([b"x\0y"]), np.array(["2020", "NaT"], "M8[ns]"),
    np.array([1, 2], "m8[3s]"),
    np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
    np.array([(1, 2.5)], dtype=np.dtype("i1,f8", align=True)),
    np.zeros(2, dtype=[("a", "f4", (2, 2))]), np.array([1, (2,), None, {"x": {1}}], dtype=object),
    np.zeros(10_000), np.arange(10)[::2], np.array([1, 2], ">i4"), np.array([1 + 2j]),
    np.array([1.5], np.longdouble),
    np.array([True, False]), np.array([1, 2], np.longlong), np.array([np.nan, -0.0, np.inf]), read_only(),
    np.empty((2, 0), dtype=object), np.array([1, 2], "f2"),
]  # fmt: skip

SCALARS = [
    np.float64(1.5), np.float32(2), np.float64("nan"), np.int64(3), np.longlong(3), np.uint8(255),
    np.bool_(True),
    np.str_("a\0"), np.bytes_(b"a\0"), np.datetime64("2020-01-01"), np.datetime64("NaT", "s"),
    np.timedelta64(3, "s"),
    np.complex64(1 + 2j), np.longdouble(1) / 3, np.float16(1), ARRAYS[8][0], np.dtype("f8"),
    np.dtype([("a", "i4")]),
]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    ARRAYS + SCALARS,
    ids=lambda value: f"{type(value).__name__}-{value.dtype if hasattr(value, 'dtype') else value}",
)
def test_numpy_values_come_back_the_same(value):
    """Dtype, shape, items and the exact scalar type are kept."""
    back = trip(value)
    assert same(back, value)
    assert digest(back) == digest(value)


def test_numpy_classes_are_kept_by_name():
    """A dtype's class in an event, such as ``np.float32``, comes back as itself."""
    assert trip([np.float32, np.ndarray]) == [np.float32, np.ndarray]


def test_the_memory_order_of_an_array_is_kept():
    """Code that hands arrays to C or Fortran libraries relies on it."""
    assert trip(np.asfortranarray(np.ones((2, 3)))).flags.f_contiguous
    assert trip(np.ones((2, 3))).flags.c_contiguous


def test_an_array_can_be_written_to_where_it_could_before():
    """A step that works in place works after a resume."""
    value = trip(np.zeros(10_000))
    value[0] = 1
    assert value[0] == 1


def test_a_masked_array_keeps_its_mask():
    """Data, mask and fill value are kept."""
    value = np.ma.array([1, 2, 3], mask=[0, 1, 0], fill_value=9)
    back = trip(value)
    assert back.mask.tolist() == [False, True, False]
    assert back.data.tolist() == [1, 2, 3]
    assert back.fill_value == 9


def test_an_object_in_an_array_is_named_by_its_position():
    """The path leads into arrays of objects."""
    value = np.array([[1, 2], [3, print]], dtype=object)
    with pytest.raises(CannotKeepError) as caught:
        encode({"a": value}, MemoryBlobs())
    assert caught.value.path == "['a'][1, 1]"


def test_a_subclass_of_an_array_is_refused():
    """A matrix or a record array would come back as something else."""
    for value in (
        np.rec.array([(1,)], dtype=[("a", "i4")]),
        np.arange(3).view(type("Mine", (np.ndarray,), {})),
    ):
        with pytest.raises(CannotKeepError):
            encode(value, MemoryBlobs())


def frame() -> pd.DataFrame:
    """A frame with a column of every kind."""
    value = pd.DataFrame(
        {
            "int": [1, 2],
            "float": [1.5, None],
            "text": ["a", None],
            "objects": [{1: (2,)}, kinds.Point({1})],
            "category": pd.Categorical(["x", "y"], categories=["y", "x", "z"], ordered=True),
            "zone": pd.date_range("2020", periods=2, tz="Europe/Berlin"),
            "naive": pd.to_datetime(["2020", None]),
            "nullable": pd.array([1, None], dtype="Int64"),
            "nullable float": pd.array([1.5, None], dtype="Float32"),
            "flag": pd.array([True, None], dtype="boolean"),
            "string": pd.array(["q", None], dtype="string"),
            "period": pd.period_range("2020-01", periods=2, freq="M"),
            "interval": pd.interval_range(0, 2),
            "duration": pd.to_timedelta([1, 2], unit="s"),
            "sparse": pd.arrays.SparseArray([0, 1]),
            "small": np.array([1, 2], "f4"),
            "plain text": pd.Series(["a", "b"], dtype=object),
            "dates": [dt.date(2020, 1, 1), dt.date(2020, 1, 2)],
            "mixed": pd.Series([pd.Timestamp("2020"), 1], dtype=object),
        }
    )
    value.attrs["source"] = ("file", 1)
    return value


FRAMES = [
    frame(), frame().set_index(["text", "zone"]), frame().set_index("category"), pd.DataFrame(),
    pd.DataFrame(columns=["a"]),
    pd.DataFrame(index=[1, 2]), pd.DataFrame([[1, "x"], [3, "y"]], columns=["a", "a"]),
    pd.DataFrame(np.arange(6.0).reshape(2, 3)),
    pd.DataFrame({("a", 1): [1], ("b", 2): ["x"]}),
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[5, 5]),
    pd.DataFrame({"a": [1, 2]}).rename_axis(index="i", columns="c"),
    pd.DataFrame({"a": ["x" * 3000, "y" * 3000]}),
    pd.DataFrame({"x": range(3)}, index=pd.date_range("2020", periods=3, freq="h")),
]  # fmt: skip

INDEXES = [
    pd.RangeIndex(3, name="k"), pd.RangeIndex(5, 0, -2), pd.Index([1, 2]), pd.Index(["a"]),
    pd.Index(["a", 1], dtype=object),
    pd.date_range("2020", periods=3, freq="h", tz=BERLIN),
    pd.date_range("2020", periods=3, freq="ME", unit="s"),
    pd.timedelta_range("1s", periods=2), pd.CategoricalIndex(["a", "b"]),
    pd.interval_range(0, 3, closed="both"),
    pd.period_range("2020", periods=2, freq="D"), pd.Index([1.5, None], dtype="Float64"),
    pd.Index([], dtype=object),
    pd.MultiIndex.from_tuples([(1, "a"), (2, None)], names=["x", None])[:1],
    pd.Index([pd.Timestamp("2020")], dtype=object),
    pd.Index([1], name=("a", 1)),
    pd.DatetimeIndex(["2024-10-27 02:30"] * 2).tz_localize(BERLIN, ambiguous=[True, False]),
]  # fmt: skip

SERIES = [
    pd.Series([1, 2], name=("a", 1)), pd.Series([], dtype=float), pd.Series(["a"]),
    pd.Series([dt.date(2020, 1, 1)]),
    pd.Series([1], index=pd.Index(["q"], name="w")), pd.Series([kinds.Colour.RED], dtype=object),
    pd.Series([1, None], dtype="UInt8"),
]  # fmt: skip

PARTS = [
    pd.Timestamp("2024-10-27 02:30").tz_localize(BERLIN, ambiguous=True), pd.Timestamp("2020", tz="UTC"),
    pd.Timestamp("2024-10-27 02:30").tz_localize(BERLIN, ambiguous=False), pd.Timestamp(5, unit="ns"),
    pd.Timestamp("2020"),
    pd.Timestamp("2020", tz=dt.timezone.utc), pd.Timestamp("2020").as_unit("s"), pd.Timedelta("3s"),
    pd.Timedelta(5, "ns"),
    pd.NaT, pd.NA, pd.Interval(1, 2), pd.Interval(pd.Timestamp("2020"), pd.Timestamp("2021"), closed="both"),
    pd.Period("2020-01"), pd.Categorical(["a", None]), pd.array([1, None]), pd.array(["a"], dtype="string"),
]  # fmt: skip


if importlib.util.find_spec("pyarrow") is not None:
    import pyarrow as pa

    SERIES += [
        pd.Series([1, None, 3], dtype="int64[pyarrow]"),
        pd.Series(["a", None], dtype="string[pyarrow]"),
        pd.Series([[1, 2], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    ]


@pytest.mark.parametrize("value", FRAMES + INDEXES + SERIES + PARTS, ids=lambda value: type(value).__name__)
def test_pandas_values_come_back_the_same(value):
    """Dtypes, indexes, names, zones, frequencies and attributes are kept."""
    back = trip(value)
    assert same(back, value)
    assert digest(back) == digest(value)


def test_a_timestamp_is_no_datetime():
    """Exact types decide, in either direction."""
    moments = [pd.Timestamp("2020"), dt.datetime(2020, 1, 1), np.datetime64("2020")]
    assert [type(value) for value in trip(moments)] == [type(value) for value in moments]


def test_an_object_in_a_frame_is_named_by_column_and_row():
    """The path leads into frames."""
    with pytest.raises(CannotKeepError) as caught:
        encode(pd.DataFrame({"a": [1, 2], "f": [1, print]}), MemoryBlobs())
    assert caught.value.path == "['f'][1]"


def test_a_frame_can_be_changed_after_reading():
    """A step that works in place works after a resume."""
    value = trip(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    value.loc[0, "a"] = 5
    value["c"] = 1
    assert value.iloc[0].tolist() == [5, "x", 1]
    for series in (pd.Series([1, 2]), pd.Series([1, None], dtype="Int64"), pd.Series([1.5, 2], dtype=object)):
        back = trip(series)
        back[0] = 7
        assert back[0] == 7


def test_equal_multi_indexes_have_equal_digests():
    """Levels that a selection left unused do not count."""
    whole = pd.DataFrame({"v": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    assert digest(whole[:1]) == digest(pd.DataFrame({"v": [1]}, index=pd.MultiIndex.from_tuples([("a", 1)])))


def image(mode: str) -> Image.Image:
    """A small picture with some content."""
    noise = Image.effect_noise((7, 5), 50)
    if mode == "P":
        return noise.convert("RGB").quantize(16)
    return (
        noise.convert(mode)
        if mode in ("1", "L", "RGB", "RGBA", "CMYK", "LA", "I", "F")
        else Image.new(mode, (7, 5), 3)
    )


@pytest.mark.parametrize("mode", ["1", "L", "P", "PA", "RGB", "RGBA", "I;16", "F", "CMYK", "LA", "I"])
def test_images_of_every_mode_come_back_the_same(mode):
    """Mode, size, palette, pixels and info are kept."""
    value = image(mode)
    value.info["dpi"] = (72, 72)
    back = trip(value)
    assert type(back) is type(value)
    assert back == value
    assert back.info == value.info
    assert digest(back) == digest(value)


@pytest.mark.parametrize("kind", ["PNG", "GIF", "JPEG", "BMP", "TIFF"])
def test_an_opened_image_keeps_its_class_and_can_be_used(kind):
    """An image that came from a file works without the file."""
    file = io.BytesIO()
    image("L" if kind == "JPEG" else "P").save(file, kind)
    value = Image.open(file)
    back = trip(value)
    assert type(back) is type(value)
    assert back == value
    assert back.convert("RGB").tobytes() == value.convert("RGB").tobytes()
    assert back.resize((3, 3)).size == (3, 3)
    back.save(io.BytesIO(), "PNG")


def test_an_image_of_several_frames_is_refused():
    """Only one frame is in memory, so the others would be lost."""
    file = io.BytesIO()
    image("P").save(file, "GIF", save_all=True, append_images=[image("P").rotate(90)])
    with pytest.raises(CannotKeepError, match="several frames"):
        encode(Image.open(file), MemoryBlobs())


def test_an_image_whose_file_is_gone_is_refused():
    """Pixels that cannot be read are a refusal, not a crash."""
    file = io.BytesIO()
    image("L").save(file, "PNG")
    file.seek(0)
    value = Image.open(file)
    file.close()
    with pytest.raises(CannotKeepError, match="its pixels cannot be read"):
        encode(value, MemoryBlobs())


@pytest.mark.parametrize("zone", [tz.tzutc(), tz.tzoffset("x", 3600), tz.gettz("Europe/Berlin")], ids=str)
def test_zones_of_dateutil_are_kept(zone):
    """Times parsed by dateutil keep their zone and its class."""
    value = dt.datetime(2020, 7, 1, tzinfo=zone)
    back = trip(value)
    assert back == value
    assert type(back.tzinfo) is type(zone)
    assert back.tzinfo == zone


def test_encoding_plain_values_imports_no_library():
    """A notebook that uses no numpy pays for no numpy."""
    code = (
        "import sys; from jupyter_wfresume.codec import encode, MemoryBlobs;"
        "encode([1, {'a': {2}}, ValueError(1)], MemoryBlobs());"
        "found = {'numpy', 'pandas', 'PIL', 'llama_index'} & set(sys.modules); assert not found, found"
    )
    # The package itself imports the engine, which is not what is measured here.
    folder = pathlib.Path(codec.__file__).parent.parent
    stub = f"import sys, types; p = types.ModuleType('jupyter_wfresume'); p.__path__ = [{str(folder)!r}];"
    stub += "sys.modules['jupyter_wfresume'] = p;"
    done = subprocess.run([sys.executable, "-c", stub + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
