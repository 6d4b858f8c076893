import type { IncomingMessage, ServerResponse } from "node:http";
import { DomainError } from "@/lib/core/errors";
import { type HttpInput, payloadTooLarge } from "./input";

const readIncoming = (incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.byteLength;
      if (size > maxBytes) {
        incoming.off("data", onData);
        incoming.pause();
        reject(payloadTooLarge(maxBytes));
        return;
      }
      chunks.push(chunk);
    };
    incoming.on("data", onData);
    incoming.once("end", () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
    );
    incoming.once("error", reject);
    incoming.once("close", () => {
      if (!incoming.complete)
        reject(
          new DomainError("invalid_request", "The request ended before its body was complete."),
        );
    });
  });

const toRequest = (incoming: IncomingMessage, origin: string, signal: AbortSignal): Request => {
  const headers = new Headers();
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2)
    headers.append(incoming.rawHeaders[index] ?? "", incoming.rawHeaders[index + 1] ?? "");
  return new Request(new URL(incoming.url ?? "/", origin), {
    method: incoming.method ?? "GET",
    headers,
    signal,
  });
};

/**
 * Input from Node's own objects. The Web Request and its signal are created only when a handler
 * reads them.
 */
export class NodeInput implements HttpInput {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  #aborter: AbortController | undefined;
  #request: Request | undefined;

  constructor(
    private readonly incoming: IncomingMessage,
    private readonly outgoing: ServerResponse,
    private readonly publicUrl: string,
  ) {
    const url = incoming.url ?? "/";
    const queryAt = url.indexOf("?");
    this.method = incoming.method ?? "GET";
    this.path = queryAt === -1 ? url : url.slice(0, queryAt);
    this.search = queryAt === -1 ? "" : url.slice(queryAt);
  }

  get peerAddress(): string {
    return this.incoming.socket.remoteAddress ?? "";
  }

  header(name: string): string | null {
    const value = this.incoming.headers[name];
    return value === undefined ? null : typeof value === "string" ? value : value.join(", ");
  }

  readBody(maxBytes: number): Promise<Uint8Array> {
    return readIncoming(this.incoming, maxBytes);
  }

  signal(): AbortSignal {
    if (this.#aborter) return this.#aborter.signal;
    const aborter = (this.#aborter = new AbortController());
    const { outgoing } = this;
    if (outgoing.destroyed) aborter.abort();
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) aborter.abort();
    });
    return aborter.signal;
  }

  /** Aborts the handler's signal, as if the caller had disconnected. */
  abort(): void {
    this.#aborter?.abort();
  }

  request(): Request {
    return (this.#request ??= toRequest(this.incoming, this.publicUrl, this.signal()));
  }
}
