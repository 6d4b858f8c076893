import { createServer, request, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface RpcCounter {
  readonly url: string;
  /** JSON-RPC calls so far; each call of a batch counts. */
  readonly calls: () => number;
  readonly close: () => void;
}

const bodyOf = async (incoming: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** Stands before a node and counts what it is asked. */
export const countRpc = async (nodeUrl: string): Promise<RpcCounter> => {
  let calls = 0;
  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then((body) => {
      const asked: unknown = JSON.parse(body.toString("utf8"));
      calls += Array.isArray(asked) ? asked.length : 1;
      const headers = { "content-type": "application/json", "content-length": body.length };
      const onward = request(nodeUrl, { method: "POST", headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, { "content-type": "application/json" });
        answer.pipe(outgoing);
      });
      onward.on("error", () => outgoing.destroy());
      onward.end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    calls: () => calls,
    close: () => void server.close(),
  };
};
