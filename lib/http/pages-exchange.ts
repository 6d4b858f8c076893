import { request, type Agent, type IncomingMessage } from "node:http";
import { CODED_HEADER, codingFor, encoderOf, isCompressible, type Coding } from "./content-coding";
import { edgeError, pagesUnavailable } from "./edge-error";
import type { PageRequest } from "./pages-gate";
import { sendAnswer } from "./send-answer";

/** Headers of one connection, or for this process alone. */
const NOT_PASSED_BACK = new Set(["connection", "keep-alive", "transfer-encoding", CODED_HEADER]);

interface PagesPlace {
  readonly socketPath: string;
  readonly agent: Agent;
}

const WITHOUT_BODY = new Set([204, 304]);

/** How the answer of the pages is compressed on its way; null: it is sent as it is. */
const codingOf = (incoming: IncomingMessage, answer: IncomingMessage): Coding | null => {
  const { "content-type": type, "content-encoding": coding, [CODED_HEADER]: coded } = answer.headers;
  const isCoded = coding !== undefined || coded !== undefined;
  const isPlain = incoming.method !== "HEAD" && !isCoded && !WITHOUT_BODY.has(answer.statusCode ?? 200);
  return isPlain && isCompressible(type) ? codingFor(incoming.headers["accept-encoding"]) : null;
};

/** One request to the pages, and their answer back. */
export const passOn = (
  { incoming, outgoing, path, headers, body }: PageRequest,
  { socketPath, agent }: PagesPlace,
): void => {
  const fail = (): void => sendAnswer(edgeError(pagesUnavailable(), incoming), incoming, outgoing);
  const upstream = request({ socketPath, agent, method: incoming.method, path, headers }, (answer) => {
    // Headers that were set before (the policies of pages) stay; Next's headers are added.
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !NOT_PASSED_BACK.has(name)) outgoing.setHeader(name, value);
    const coded = answer.headers[CODED_HEADER];
    if (coded !== undefined) outgoing.setHeader("content-encoding", coded);
    answer.once("error", fail);
    const coding = codingOf(incoming, answer);
    if (isCompressible(answer.headers["content-type"])) outgoing.appendHeader("vary", "accept-encoding");
    if (coding === null) {
      outgoing.writeHead(answer.statusCode ?? 502);
      answer.pipe(outgoing);
      return;
    }
    outgoing.removeHeader("content-length");
    outgoing.setHeader("content-encoding", coding);
    outgoing.writeHead(answer.statusCode ?? 502);
    const encoder = encoderOf(coding).once("error", fail);
    outgoing.once("close", () => encoder.destroy());
    answer.pipe(encoder).pipe(outgoing);
  });
  upstream.once("error", fail);
  outgoing.once("close", () => upstream.destroy());
  upstream.end(body);
};

/** @returns the bytes of memory that the pages' process uses; null when it does not answer in time */
export const askWhetherAlive = (socketPath: string, timeoutMs: number): Promise<number | null> =>
  new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const asked = request({ socketPath, agent: false, method: "OPTIONS", path: "*", signal }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => (text += chunk));
      answer.once("end", () => resolve(Number(text)));
      answer.once("error", () => resolve(null));
    });
    asked.once("error", () => resolve(null));
    asked.end();
  });
