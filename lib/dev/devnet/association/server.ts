import { createServer, type IncomingMessage } from "node:http";
import type { AssociationChain } from "./chain";

const PATH = /^\/(\d+)\/public\/(mt-roots|mt-leaves|deposits-by-label)$/;

const scopeOf = ({ headers }: IncomingMessage): bigint | null => {
  const text = headers["x-pool-scope"];
  return typeof text === "string" && /^\d{1,80}$/.test(text) ? BigInt(text) : null;
};

const labelsOf = ({ headers }: IncomingMessage): bigint[] => {
  const text = headers["x-labels"];
  return typeof text === "string"
    ? text
        .split(",")
        .filter((label) => /^\d{1,80}$/.test(label))
        .map(BigInt)
    : [];
};

const answerOf = async (
  chain: AssociationChain,
  what: string,
  request: IncomingMessage,
): Promise<unknown> => {
  if (what === "mt-roots") return chain.roots();
  if (what === "deposits-by-label") return chain.reviews(labelsOf(request));
  const scope = scopeOf(request);
  return scope === null ? null : chain.leaves(scope);
};

/**
 * Serves association sets on this machine, with the API of 0xbow.
 * @param chains by chain id
 */
export const serveAssociationSets = async (
  chains: ReadonlyMap<string, AssociationChain>,
  port: number,
): Promise<{ readonly url: string; close(): Promise<void> }> => {
  const server = createServer((request, response) => {
    const [, chainId = "", what = ""] =
      PATH.exec(new URL(request.url ?? "/", "http://localhost").pathname) ?? [];
    const chain = chains.get(chainId);
    const answer = chain === undefined ? Promise.resolve(null) : answerOf(chain, what, request);
    answer.then(
      (body) =>
        response
          .writeHead(body === null ? 404 : 200, { "content-type": "application/json" })
          .end(JSON.stringify(body)),
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  server.unref();
  const address = server.address();
  const used = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${String(used)}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};
