# SPDX-License-Identifier: Apache-2.0
"""The servers that tests/servers/run records: how each is set up, started, loaded and stopped.

In commands {folder} is its temporary directory, {port} its port on loopback, {user} whom it runs
as; in files these are @folder@ and @port@.
"""

import dataclasses
import glob
import signal


@dataclasses.dataclass
class Server:
    name: str
    command: list
    load: list
    files: dict = dataclasses.field(default_factory=dict)
    prepare: list = dataclasses.field(default_factory=list)
    ready: list = dataclasses.field(default_factory=list)  # a command; without: a connection
    stop: int = signal.SIGTERM
    open_files: int = 0  # limit; 0: as it is


APACHE = """
ServerName localhost
ServerRoot @folder@
DefaultRuntimeDir @folder@
PidFile @folder@/pid
Mutex file:@folder@ default
Listen 127.0.0.1:@port@
LoadModule mpm_{mpm}_module /usr/lib/apache2/modules/mod_mpm_{mpm}.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
ErrorLog @folder@/error.log
LogFormat "%h %t \\"%r\\" %>s %b" common
CustomLog @folder@/access.log common
BufferedLogs On
DocumentRoot @folder@
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MinSpareThreads 1
MaxSpareThreads 4
MaxRequestWorkers 4
"""

NGINX = """
daemon off;
worker_processes 2;
pid @folder@/pid;
error_log @folder@/error.log;
events { worker_connections 64; }
http {
  access_log @folder@/access.log;
  client_body_temp_path @folder@/body;
  proxy_temp_path @folder@/proxy;
  fastcgi_temp_path @folder@/fastcgi;
  uwsgi_temp_path @folder@/uwsgi;
  scgi_temp_path @folder@/scgi;
  server { listen 127.0.0.1:@port@; root @folder@; }
}
"""

PAGE = {"index.html": "<html><body>It works.</body></html>\n" * 20}
AB = ["ab", "-q", "-n", "400", "-c", "4", "http://127.0.0.1:{port}/index.html"]


def apache(mpm):
    return Server(
        name=f"apache-{mpm}",
        files={"apache.conf": APACHE.format(mpm=mpm), **PAGE},
        command=["/usr/sbin/apache2", "-f", "{folder}/apache.conf", "-DFOREGROUND"],
        load=[AB])


def postgres_folder():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return found[-1] if found else "/usr/lib/postgresql/15/bin"


POSTGRES = postgres_folder()
PG_CLIENT = ["-h", "127.0.0.1", "-p", "{port}", "-U", "postgres"]
MARIA_CLIENT = ["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--port={port}",
                "--user=root"]

SERVERS = [
    # It sets its limit of open files to its connections, and Valgrind keeps 12 files for itself.
    Server(
        name="memcached",
        open_files=1024,
        command=["/usr/bin/memcached", "-l", "127.0.0.1", "-p", "{port}", "-U", "0", "-t", "4",
                 "-c", "1012", "-m", "16", "-u", "{user}"],
        load=[["memcslap", "--servers=127.0.0.1:{port}", "--concurrency=4",
               "--execute-number=500", "--test=" + test] for test in ("set", "get")]),
    Server(
        name="redis",
        command=["/usr/bin/redis-server", "--bind", "127.0.0.1", "--port", "{port}", "--dir",
                 "{folder}", "--save", "", "--appendonly", "yes"],
        load=[["redis-benchmark", "-p", "{port}", "-n", "2000", "-c", "8", "-q", "-t",
               "set,get,lpush,zadd"]]),
    apache("worker"),
    apache("event"),
    Server(
        name="nginx",
        files={"nginx.conf": NGINX, **PAGE},
        command=["/usr/sbin/nginx", "-p", "{folder}", "-c", "{folder}/nginx.conf"],
        load=[AB]),
    # It would map 8 TB for a buffer pool that may grow, which Valgrind cannot.
    Server(
        name="mariadbd",
        prepare=[["mariadb-install-db", "--no-defaults", "--datadir={folder}/data",
                  "--auth-root-authentication-method=normal", "--skip-test-db"]],
        command=["/usr/sbin/mariadbd", "--no-defaults", "--datadir={folder}/data", "--port={port}",
                 "--bind-address=127.0.0.1", "--socket={folder}/socket", "--pid-file={folder}/pid",
                 "--innodb-buffer-pool-size=16M", "--innodb-buffer-pool-size-max=16M",
                 "--innodb-log-file-size=8M",
                 "--innodb-use-native-aio=0", "--skip-name-resolve"],
        ready=["mariadb-admin", *MARIA_CLIENT, "ping"],
        load=[["mariadb-slap", *MARIA_CLIENT, "--auto-generate-sql", "--concurrency=4",
               "--number-of-queries=200", "--auto-generate-sql-load-type=mixed"]]),
    Server(
        name="postgres",
        prepare=[[POSTGRES + "/initdb", "-D", "{folder}/data", "-U", "postgres", "-A", "trust",
                  "--no-sync"]],
        command=[POSTGRES + "/postgres", "-D", "{folder}/data", "-p", "{port}", "-h", "127.0.0.1",
                 "-k", "{folder}", "-c", "shared_buffers=8MB"],
        ready=[POSTGRES + "/pg_isready", "-q", *PG_CLIENT],
        load=[[POSTGRES + "/pgbench", *PG_CLIENT, "-i", "-s", "1", "-q", "postgres"],
              [POSTGRES + "/pgbench", *PG_CLIENT, "-c", "4", "-t", "25", "postgres"]],
        stop=signal.SIGINT),
]
