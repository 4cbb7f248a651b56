"""Sends a text, receives messages by webhook and replies to each. Run it with: python3 reply.py"""
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

# Address of the gateway, token of the instance, number of the recipient, and the port and address of this receiver.
GATEWAY = os.environ.get("GATEWAY", "http://127.0.0.1:3000")
TOKEN = os.environ["TOKEN"]
TO = os.environ["TO"]
RECEIVER_PORT = int(os.environ.get("RECEIVER_PORT", "4000"))
HOOK = os.environ.get("HOOK", f"http://127.0.0.1:{RECEIVER_PORT}/")


def call(path, body, headers=None):
    answer = requests.post(GATEWAY + path, json=body, headers={"token": TOKEN, **(headers or {})}, timeout=30)
    answer.raise_for_status()
    return answer.json()


def reply(event, webhook_id):
    if event["EventType"] != "messages" or event["message"]["text"] == "":
        return
    message = event["message"]
    # The gateway may deliver an event twice. With the same key it sends the reply only once.
    key = {"idempotency-key": webhook_id}
    call("/send/text", {"number": message["chatid"], "text": f"You wrote: {message['text']}"}, key)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            reply(json.loads(body), self.headers["webhook-id"])
            status = 200
        except Exception as error:
            # A 500 makes the gateway deliver the event again.
            print(error)
            status = 500
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()


server = ThreadingHTTPServer(("", RECEIVER_PORT), Receiver)
# Without fromMeYes the program would answer its own replies.
call("/webhook", {"url": HOOK, "enabled": True, "events": ["messages"], "excludeMessages": ["fromMeYes"]})
call("/send/text", {"number": TO, "text": "Hello from Python"})
server.serve_forever()
