import { connect, createServer, type Socket } from "node:net";
import type { Stage } from "./fault-proxy";

export interface PgProxy {
  /** The database's URL through the proxy. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * One round trip to the server: the SQL, and the values of the parameters that are sent as text.
 */
export interface Statement {
  readonly sql: string;
  readonly parameters: string;
  /** Number of the connection. All statements of one transaction have the same number. */
  readonly connection: number;
}

export interface PgProxyOptions {
  /**
   * Called before each statement is passed on, and again after the server's complete answer, before
   * the client sees any of it. On `cut` both connections are closed as if the client had died, so
   * the server rolls back an open transaction.
   */
  readonly watch: (stage: Stage, statement: Statement) => "go" | "cut";
}

const TYPED_HEADER = 5;
const UNTYPED_HEADER = 4;
const READY_FOR_QUERY = "Z";

/**
 * Splits the stream into messages of PostgreSQL's protocol 3.0. The first message of a client has
 * no type.
 */
const createSplitter = (startsUntyped: boolean) => {
  let rest = Buffer.alloc(0);
  let isUntyped = startsUntyped;
  return (chunk: Buffer): { type: string; bytes: Buffer }[] => {
    rest = Buffer.concat([rest, chunk]);
    const messages: { type: string; bytes: Buffer }[] = [];
    for (;;) {
      const header = isUntyped ? UNTYPED_HEADER : TYPED_HEADER;
      if (rest.length < header) return messages;
      const length = isUntyped ? rest.readInt32BE(0) : rest.readInt32BE(1) + 1;
      if (rest.length < length) return messages;
      messages.push({
        type: isUntyped ? "" : String.fromCharCode(rest[0] ?? 0),
        bytes: rest.subarray(0, length),
      });
      rest = rest.subarray(length);
      isUntyped = false;
    }
  };
};

/**
 * Reads the SQL and the parameters from the client's messages. Simple queries and Parse contain
 * the SQL, Bind contains the parameters. Named statements are parsed only once, so their SQL is
 * remembered.
 */
const createReader = (connection: number) => {
  const prepared = new Map<string, string>();
  let [sql, parameters] = ["", ""];
  const textFrom = (bytes: Buffer, start: number): string =>
    bytes.toString("utf8", start, bytes.indexOf(0, start));
  return (type: string, bytes: Buffer): Statement | null => {
    if (type === "P") {
      const name = textFrom(bytes, TYPED_HEADER);
      sql = textFrom(bytes, TYPED_HEADER + Buffer.byteLength(name) + 1);
      prepared.set(name, sql);
    }
    if (type === "B") {
      const portal = textFrom(bytes, TYPED_HEADER);
      sql = prepared.get(textFrom(bytes, TYPED_HEADER + Buffer.byteLength(portal) + 1)) ?? sql;
      parameters = bytes.toString("latin1", TYPED_HEADER);
    }
    if (type === "Q") [sql, parameters] = [textFrom(bytes, TYPED_HEADER), ""];
    if (type !== "Q" && type !== "S") return null;
    const statement = { sql, parameters, connection };
    [sql, parameters] = ["", ""];
    return statement;
  };
};

/** A proxy between a client and PostgreSQL that reports each statement. */
export const startPgProxy = async (
  databaseUrl: string,
  { watch }: PgProxyOptions,
): Promise<PgProxy> => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let connections = 0;

  const serve = (client: Socket): void => {
    const server = connect(Number(target.port), target.hostname);
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    const fromClient = createSplitter(true);
    const fromServer = createSplitter(false);
    const read = createReader((connections += 1));
    let waiting: Buffer[] = [];
    let asked: Statement | null = null;

    client.on("data", (chunk: Buffer) => {
      for (const { type, bytes } of fromClient(chunk)) {
        waiting.push(bytes);
        const isHandshake = type === "" || type === "p";
        const statement = isHandshake ? null : read(type, bytes);
        if (statement !== null) {
          asked = statement;
          if (watch("before", statement) === "cut") {
            end();
            return;
          }
        }
        if (statement === null && !isHandshake && type !== "X") continue;
        server.write(Buffer.concat(waiting));
        waiting = [];
      }
    });

    let held: Buffer[] = [];
    server.on("data", (chunk: Buffer) => {
      for (const { type, bytes } of fromServer(chunk)) {
        held.push(bytes);
        if (asked !== null && type !== READY_FOR_QUERY) continue;
        if (asked !== null && watch("after", asked) === "cut") {
          end();
          return;
        }
        if (type === READY_FOR_QUERY) asked = null;
        client.write(Buffer.concat(held));
        held = [];
      }
    });
  };

  const proxy = createServer(serve);
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  if (address === null || typeof address === "string")
    throw new Error("The proxy has no port.");
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(address.port);
  return {
    url: url.toString(),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        proxy.close(() => resolve());
      }),
  };
};
