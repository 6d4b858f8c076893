import { createServer as createHttp, type Server } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { WebhookAnswer } from "@/lib/money/ports/webhook-sender";
import { createWebhookSender, type WebhookSenderOptions } from "./sender";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const listen = async (server: Server): Promise<number> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};
const counting = async (): Promise<{ port: number; count: () => number }> => {
  let count = 0;
  const port = await listen(
    createHttp((_request, response) => {
      count += 1;
      response.writeHead(200).end("in");
    }),
  );
  return { port, count: () => count };
};
const send = (
  url: string,
  options: Partial<WebhookSenderOptions> = {},
): Promise<WebhookAnswer> =>
  createWebhookSender({ allowLoopback: false, ...options }).send({
    url,
    headers: { "content-type": "application/json" },
    body: "{}",
    signal: new AbortController().signal,
  });

test("a name that resolves to a private address is refused at creation and again for each request", async () => {
  const inside = await counting();
  const resolve = () => Promise.resolve(["127.0.0.1"]);
  const url = `http://rebound.example:${String(inside.port)}/`;
  expect(await createWebhookSender({ allowLoopback: false, resolve }).check(url)).toMatch(
    /not one of the public/,
  );
  expect(await send(url, { resolve })).toMatchObject({
    statusCode: null,
    error: expect.stringMatching(/127\.0\.0\.1/) as string,
  });
  expect(inside.count()).toBe(0);
});

test("a name that has a private address beside a public one is refused", async () => {
  const resolve = () => Promise.resolve(["93.184.216.34", "10.0.0.1"]);
  expect(await send("https://both.example/", { resolve })).toMatchObject({
    error: expect.stringMatching(/10\.0\.0\.1/) as string,
  });
});

test("a resolver that changes its answer is asked once for a request, and the next request is refused", async () => {
  const inside = await counting();
  const answers = [["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1"]];
  let asked = 0;
  const resolve = () => Promise.resolve(answers[asked++] ?? []);
  // Loopback stands in for a public address: the connection goes to the first resolved address,
  // whatever a second resolution returns.
  const sender = createWebhookSender({ allowLoopback: true, resolve });
  const request = { headers: {}, body: "{}", signal: new AbortController().signal };
  const url = `http://changing.example:${String(inside.port)}/`;
  expect(await sender.send({ ...request, url })).toMatchObject({ statusCode: 200 });
  expect(asked).toBe(1);
  expect(await sender.send({ ...request, url })).toMatchObject({ statusCode: null });
  expect(inside.count()).toBe(1);
  sender.close();
});

test("a connection that was kept for a name is not used once the name leads elsewhere", async () => {
  const [one, two] = [await counting(), await counting()];
  let address = "127.0.0.1";
  const sender = createWebhookSender({
    allowLoopback: true,
    resolve: () => Promise.resolve([address]),
  });
  const request = { headers: {}, body: "{}", signal: new AbortController().signal };
  const url = `http://moving.example:${String(one.port)}/`;
  expect((await sender.send({ ...request, url })).statusCode).toBe(200);
  address = "127.0.0.2";
  // No server listens on this port.
  expect((await sender.send({ ...request, url })).error).toMatch(/refused/);
  expect([one.count(), two.count()]).toEqual([1, 0]);
  sender.close();
});

test("a redirect is an answer, and is not followed", async () => {
  const inside = await counting();
  const target = `http://127.0.0.1:${String(inside.port)}/`;
  const port = await listen(
    createHttp((_request, response) => response.writeHead(302, { location: target }).end()),
  );
  const answer = await send(`http://127.0.0.1:${String(port)}/`, { allowLoopback: true });
  expect(answer).toMatchObject({ statusCode: 302, headers: { location: target }, error: null });
  expect(inside.count()).toBe(0);
});

test("no answer in time is a time-out, and an answer that dribbles keeps its status", async () => {
  const silent = await listen(createHttp(() => undefined));
  const late = await send(`http://127.0.0.1:${String(silent)}/`, {
    allowLoopback: true,
    timeoutMs: 200,
  });
  expect(late).toMatchObject({ statusCode: null, error: "There was no answer within 0.2 s." });
  const dribbling = await listen(
    createHttp((_request, response) => {
      response.writeHead(201);
      response.write("a");
    }),
  );
  const begun = await send(`http://127.0.0.1:${String(dribbling)}/`, {
    allowLoopback: true,
    timeoutMs: 200,
  });
  expect(begun).toMatchObject({ statusCode: 201, body: "a", error: null });
});

test("an answer is cut at 64 KiB and kept at 4,096 characters that can be stored", async () => {
  const port = await listen(
    createHttp((_request, response) => {
      response.writeHead(200);
      response.write("\0");
      const timer = setInterval(() => response.write("x".repeat(1 << 20)), 1);
      response.once("close", () => clearInterval(timer));
    }),
  );
  const answer = await send(`http://127.0.0.1:${String(port)}/`, { allowLoopback: true });
  expect(answer).toMatchObject({ statusCode: 200, error: null });
  expect(answer.body).toBe("x".repeat(4096));
});

test("TLS is checked for the host's name, though the connection goes to a pinned address", async () => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=hook.example", "-addext", "subjectAltName=DNS:hook.example"];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "2",
      "-keyout",
      key,
      "-out",
      cert,
      ...subject,
    ],
    { stdio: "ignore" },
  );
  const tls = { key: readFileSync(key), cert: readFileSync(cert) };
  const ca = readFileSync(cert, "utf8");
  rmSync(folder, { recursive: true });
  const names: (string | undefined)[] = [];
  const port = await listen(
    createHttps(tls, (request, response) => {
      names.push(request.headers.host);
      response.writeHead(200).end();
    }),
  );
  const options = { allowLoopback: true, ca, resolve: () => Promise.resolve(["127.0.0.1"]) };
  expect(await send(`https://hook.example:${String(port)}/`, options)).toMatchObject({
    statusCode: 200,
  });
  expect(await send(`https://other.example:${String(port)}/`, options)).toMatchObject({
    statusCode: null,
    error: "The host's certificate is for another name.",
  });
  expect(names).toEqual([`hook.example:${String(port)}`]);
});
