"""Passes a server's socket on, and cuts off replies, or does not pass them on: what was asked has been
done then, and nobody is told."""

import os
import socket
import threading


class CuttingProxy:
    def __init__(self, directory, target, name=".s.PGSQL.5432"):
        self.path = os.path.join(directory, name)
        self.target = os.path.join(target, name)
        self.cut_after = None  # so many replies; None: none
        self.cuts = 0
        self.lock = threading.Lock()
        self.replies = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o777)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.target)
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.ask, args=(client, server), daemon=True).start()
            threading.Thread(target=self.reply, args=(client, server), daemon=True).start()

    def ask(self, client, server):
        self.copy(client, server, lambda data: False)

    def reply(self, client, server):
        self.copy(server, client, self.cuts_this)

    def cuts_this(self, data):
        # `C`ommandComplete, or the type of a task that was claimed: something was done, and this says
        # so.
        done = b"UPDATE " in data or b"INSERT " in data or b"ledger.note" in data
        if self.cut_after is None or not done:
            return False
        with self.lock:
            self.replies += 1
            if self.replies % self.cut_after:
                return False
            self.cuts += 1
            return True

    @staticmethod
    def copy(source, sink, cuts):
        try:
            while data := source.recv(65536):
                if cuts(data):
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


class DeafeningProxy(CuttingProxy):
    """Redis, whose subscribers may hear nothing any more while their connections last, as behind a
    firewall that has forgotten them."""

    def __init__(self, directory, target):
        self.subscribers = set()
        self.deaf = set()
        super().__init__(directory, target, "redis.sock")

    def deafen(self):
        self.deaf = set(self.subscribers)

    def ask(self, client, server):
        def sees(data):
            if b"SUBSCRIBE" in data:
                self.subscribers.add(server)
            return False

        self.copy(client, server, sees)

    def reply(self, client, server):
        try:
            while data := server.recv(65536):
                if server not in self.deaf:
                    client.sendall(data)
        except OSError:
            pass
        for end in (client, server):
            end.close()
