// The page that the server gives: one explorer over its WebSocket.
import { open } from "./app.js";

const url = new URL("ws", location.href);
url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
open(document.getElementById("explorer"), url);
