"""Users that may only ask, and TLS."""
import datetime

import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from conftest import SECOND, call


def test_users_that_may_read_only_some_keys(server, client):
    client.acl_setuser("reader", enabled=True, passwords=["+secret"], reset=True, commands=["+@all"])
    call(client, "ACL", "SETUSER", "reader", "%R~a:*", "%RW~b:*")
    for key in ("a:1", "b:1", "c:1"):
        call(client, "BF.RESERVE", key, "0.01", "100", "SEED", "1")
    call(client, "CMS.INITBYDIM", "a:s", "10", "2")
    call(client, "CMS.INITBYDIM", "b:s", "10", "2")
    reader = server.client(username="reader", password="secret")
    allowed = [("BF.EXISTS", "a:1", "x"), ("BF.MEXISTS", "a:1", "x"), ("BF.INFO", "a:1"), ("BF.CARD", "a:1"), ("BF.VERIFY", "a:1"), ("BF.ADD", "b:1", "x"),
               ("BF.MERGE", "b:1", "a:1"), ("CMS.QUERY", "a:s", "x"), ("CMS.MERGE", "b:s", "1", "a:s"), ("BF.DUMP", "a:1"), ("BF.SCANDUMP", "a:1", "0")]
    refused = [("BF.ADD", "a:1", "x"), ("BF.MADD", "a:1", "x"), ("BF.INSERT", "a:1", "ITEMS", "x"), ("BF.RESERVE", "a:2", "0.01", "10"), ("BF.EXISTS", "c:1", "x"),
               ("BF.MERGE", "a:1", "b:1"), ("BF.MERGE", "b:1", "c:1"), ("BF.LOADCHUNK", "a:1", "1", "x"), ("BF.LOAD", "a:1", "x"), ("BF.RECYCLE", "a:1"),
               ("CMS.INCRBY", "a:s", "x", "1"), ("CMS.MERGE", "b:s", "1", "c:s"), ("CMS.INITBYDIM", "a:t", "1", "1")]
    for words in allowed:
        reply = call(reader, *words)
        assert not isinstance(reply, redis.exceptions.ResponseError), (words, reply)
    for words in refused:
        reply = call(reader, *words)
        assert isinstance(reply, redis.exceptions.NoPermissionError), (words, reply)


def test_who_may_only_write_learns_no_counts(server, client):
    """CMS.INCRBY by nothing tells a count, so that it needs the permission to read, as INCRBY does. BF.ADD tells no more than SADD."""
    call(client, "CMS.INITBYDIM", "c", "100", "2")
    call(client, "CMS.INCRBY", "c", "secret", "42")
    call(client, "ACL", "SETUSER", "writer", "on", "nopass", "%W~*", "+@all")
    writer = server.client(username="writer", password="x")
    for words in (("CMS.INCRBY", "c", "secret", "0"), ("INCRBY", "n", "0"), ("CMS.QUERY", "c", "secret"), ("BF.EXISTS", "f", "x")):
        assert isinstance(call(writer, *words), redis.exceptions.NoPermissionError), words
    assert call(writer, "BF.ADD", "f", "x") == call(writer, "SADD", "s", "x") == 1


def test_categories(server, client):
    categories = [name.decode() for name in call(client, "ACL", "CAT")]
    if "bloom" not in categories:
        # Redis 7.0 knows no categories of modules: nothing is in them.
        assert server.engine == "redis"
        return
    call(client, "ACL", "SETUSER", "asker", "on", "nopass", "~*", "-@all", "+@read", "-@cms")
    asker = server.client(username="asker", password="x")
    assert call(asker, "BF.EXISTS", "f", "x") == 0
    assert isinstance(call(asker, "BF.ADD", "f", "x"), redis.exceptions.NoPermissionError)
    assert isinstance(call(asker, "CMS.QUERY", "f", "x"), redis.exceptions.NoPermissionError)


@pytest.fixture
def certificate(tmp_path):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    built = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
             .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
             .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
             .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
             .sign(key, hashes.SHA256()))
    (tmp_path / "cert.pem").write_bytes(built.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.TraditionalOpenSSL
    (tmp_path / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return tmp_path


def test_tls(make, certificate):
    cert, key = str(certificate / "cert.pem"), str(certificate / "key.pem")
    server = make("--tls-port", SECOND, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
    client = redis.Redis(host="localhost", port=server.second, ssl=True, ssl_ca_certs=cert)
    assert client.bf().add("f", "a") == 1
    assert list(client.bf().mexists("f", *range(1000), "a"))[-1] == 1
    assert call(server.client(), "BF.EXISTS", "f", "a") == 1
    client.close()
