import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterFile } from "./after-file";

export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface WebhookReceiver {
  readonly url: string;
  /** In the order of arrival. */
  readonly received: ReceivedWebhook[];
  /** Sets the answer from now on; `turn` counts requests from 1. */
  answer(
    respond: (response: ServerResponse, webhook: ReceivedWebhook, turn: number) => void,
  ): void;
  /** Maximum number of requests that were open at the same time. */
  readonly openMax: number;
}

/** Throws unless the library of Standard Webhooks, which receivers use, accepts the signature. */
export const verifyWebhook = (secret: string, { raw, headers }: ReceivedWebhook): unknown =>
  new Webhook(secret).verify(raw, headers as Record<string, string>);

const ok = (response: ServerResponse): void => {
  response.writeHead(200).end("ok");
};

/** A receiver of webhooks on this machine; closed after the file. */
export const webhookReceiver = async (): Promise<WebhookReceiver> => {
  const received: ReceivedWebhook[] = [];
  let respond: (response: ServerResponse, webhook: ReceivedWebhook, turn: number) => void = ok;
  let open = 0;
  let openMax = 0;
  const server = createServer((request, response) => {
    open += 1;
    openMax = Math.max(openMax, open);
    response.once("close", () => (open -= 1));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const raw = Buffer.concat(chunks).toString("utf8");
      const { url: path = "/", headers } = request;
      const webhook = { path, headers, raw, body: JSON.parse(raw) as Record<string, unknown> };
      received.push(webhook);
      respond(response, webhook, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterFile(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    received,
    answer: (next) => (respond = next),
    get openMax() {
      return openMax;
    },
  };
};
