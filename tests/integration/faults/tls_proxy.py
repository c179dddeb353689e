"""Speaks TLS before a PostgreSQL's socket, in records as large as TLS allows."""

import os
import select
import socket
import ssl
import struct
import subprocess
import threading

SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def make_certificate(directory):
    """For localhost, signed by itself. Returns the paths of certificate and key."""
    certificate, key = (os.path.join(directory, name) for name in ("cert.pem", "key.pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-out", certificate, "-keyout", key], check=True, capture_output=True)
    return certificate, key


class TlsProxy:
    def __init__(self, certificate, key, target):
        self.target = os.path.join(target, ".s.PGSQL.5432")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            if client.recv(8, socket.MSG_WAITALL) != SSL_REQUEST:
                return client.close()
            client.sendall(b"S")
            client = self.context.wrap_socket(client, server_side=True)
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
        except OSError:
            return client.close()
        # One thread: a TLS connection must not be read and written by two at once.
        client.setblocking(False)
        self.exchange(client, server)

    @staticmethod
    def exchange(client, server):
        try:
            while True:
                ready = [client] if client.pending() else select.select([client, server], [], [])[0]
                if client in ready:
                    try:
                        data = client.recv(65536)
                        if not data:
                            break
                        server.sendall(data)
                    except ssl.SSLWantReadError:
                        pass
                if server in ready:
                    data = server.recv(1 << 20)
                    if not data:
                        break
                    client.setblocking(True)
                    client.sendall(data)
                    client.setblocking(False)
        except OSError:
            pass
        client.close()
        server.close()

    def close(self):
        self.listener.close()
