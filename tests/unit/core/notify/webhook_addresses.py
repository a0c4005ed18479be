"""Webhook addresses that pass the URL gate, and every known way to write an inner one or confuse a parser."""

from __future__ import annotations

CANARY = "Canary4Secret"

PASSES = [
    "https://hooks.example.com",
    "https://hooks.example.com/",
    "https://hooks.example.com/a/b;c=1/@d?e=f&g=%20h?i",
    "https://HOOKS.example.COM/Path",
    "https://hooks.example.com:443/path",
    "https://xn--bcher-kva.example.com/x",
    "https://a-b.c--d.example/x",
    "https://1.2.3.4.example.com/x",
    "https://127.0.0.1.nip.io/",  # reads well; the connect-time gate refuses what it resolves to
    "HTTPS://hooks.example.com/x",
]

LITERALS = [
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0X7F.1",
    "0177.0.0.1",
    "0177.1", "017700000001", "127.000.000.001", "127.0.0.1.", "127.0.0.01", "127.0.0.0x1", "00000127.0.0.1",
    "0", "0.0.0.0", "10.0.0.5", "172.16.0.1", "192.168.1.1", "192.168.257", "100.64.0.1",
    "169.254.169.254", "169.254.43518", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376",
    "168.63.129.16", "0xa83f8110", "2822734096", "224.0.0.1", "255.255.255.255", "198.18.0.1", "203.0.113.9",
    "8.8.8.8", "127.0.0.1:443", "example.1", "example.0x7f", "1.1.1.1.1", "127..0.0.1", "127.0.0.1%2e",
    "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]", "[64:ff9b:1::a9fe:a9fe]", "[2002:7f00:1::]", "[2001:0:4136:e378::]", "[fe80::1]",
    "[fe80::1%25eth0]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[2600::5efe:a00:1]",
    "[2606:4700:4700::1111]", "[0:0:0:0:0:0:0:1]", "[::1", "::1]", "[]", "[v1.127.0.0.1]", "[127.0.0.1]",
]  # fmt: skip

LOOKALIKES = [
    "\uff11\uff12\uff17.0.0.1", "\u2460\u2461\u2466.\u24ea.\u24ea.\u2460", "\u24dbocalhost",
    "127\u30020\u30020\u30021",
    "127.0.0.1\u200b", "\u202e1.0.0.721", "localhos\u1e6d", "exam\u00adple.com", "hooks.example\uff0ecom",
    "hooks.example.com\uff0f", "b\u00fccher.example.com",
]  # fmt: skip

INNER_NAMES = [
    "localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "a.localhost", "metadata",
    "metadata.google.internal", "kubernetes.default.svc.cluster.local", "printer.lan", "router.home.arpa",
    "a.test",
    "b.invalid", "c.corp", "d.intranet", "e.home", "f.private", "g.onion", "1.0.0.127.in-addr.arpa", "com",
    "azurewebsites",
]  # fmt: skip

NOT_NAMES = [
    "", ".", "..", ".example.com", "example..com", "example.com.", "-a.example.com", "a-.example.com",
    "a_b.example.com",
    "a" * 64 + ".example.com", ".".join(["a" * 60] * 5) + ".com", "example.com%00.evil.net",
    "%6c%6f.example.com",
    "exa mple.com", "example.com,evil.net", "*.example.com", "example.com;evil.net",
]  # fmt: skip

CONFUSING = [
    "https://example.com@127.0.0.1/", "https://127.0.0.1@example.com/", f"https://user:{CANARY}@example.com/",
    f"https://{CANARY}@example.com/", "https://@example.com/", "https://:@example.com/",
    f"https://user:p/{CANARY}@example.com/", "https://example.com\\@127.0.0.1/",
    "https://127.0.0.1\\.example.com/",
    "https:\\\\example.com\\x", "https:/\\example.com", "https://example.com\\x",
    "https://example.com#@127.0.0.1/",
    f"https://example.com/x#{CANARY}", "https://127.0.0.1#.example.com/",
    "https://169.254.169.254?.example.com/",
    "https://169.254.169.254/.example.com", "https://127.0.0.1;.example.com/",
    "https://127.0.0.1,example.com/",
    "https://example.com:443@127.0.0.1/", "https://example.com:@127.0.0.1/",
    "https://example.com%40127.0.0.1/",
    "https://example.com%2f@127.0.0.1/", "https://example.com%23@127.0.0.1/",
    "https://example.com%5c@127.0.0.1/",
    "https://a@b@127.0.0.1/", "https:example.com", "https:/example.com", "https:///example.com",
    "https:////127.0.0.1/",
    "//example.com/x", "example.com/x", "/x", "https://", "https", "", " ", "https://?x", "https://#x",
    " https://example.com/", "https://example.com/ ", "\thttps://example.com/", "https://example.com/\n",
    "https://exam\nple.com/", "https://exa\tmple.com/", "https://example.com\r\nHost: 127.0.0.1/",
    "ht\ntps://example.com",
    "https://example.com/\x00", "https://example.com\x00.evil.net/", "https://example.com/\x7f",
    "https://example.com/\x1b[0m",
    "https://example.com/a b", "https://example.com/é", "https://example.com/%", "https://example.com/%zz",
    "https://example.com/%2", "https://example.com/<x>", 'https://example.com/"x"', "https://example.com/{x}",
    "https://example.com/a|b", "https://example.com/^", "https://example.com/`x`",
    "https://example.com/\ud800",
    "https://example.com?x=\u00a0", "https://[example.com]/", "https://example.com]/",
    "https://exa[mple.com/",
    "https://[::1].example.com/", "https://[::1]example.com/", "https://example.com:443:80/",
    "https://example.com:443x/",
    "url:https://example.com/", "URL=https://example.com/", "https://https://example.com/",
    "https;//example.com/",
]  # fmt: skip

SCHEMES = [
    "http://hooks.example.com/", "ftp://hooks.example.com/", "file:///etc/passwd",
    "file://hooks.example.com/etc/passwd",
    "gopher://hooks.example.com:70/_x", "dict://hooks.example.com:11211/", "ldap://hooks.example.com/",
    "javascript:alert(1)", "data:text/plain,x", "jar:https://example.com!/", "ws://hooks.example.com/",
    "wss://hooks.example.com/", "unix:///var/run/docker.sock", "http+unix://%2fvar%2frun/",
    "httpss://hooks.example.com/",
    "ssh://git@hooks.example.com/", "tcp://hooks.example.com:443", "blob:https://example.com/x",
]  # fmt: skip

PORTS = [
    "22",
    "25",
    "80",
    "8443",
    "0",
    "65536",
    "99999",
    "0443",
    "+443",
    "-1",
    "443 ",
    "",
    "0x1bb",
    "\uff14\uff14\uff13",
]
