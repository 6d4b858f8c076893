import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { freePort } from "./ports";

/**
 * Linux assigns ports from here on to programs that request any port, and macOS from a higher one.
 */
const FIRST_GIVEN_PORT = 32_768;
const PORTS = 50;

test("a free port is none that the system gives to programs that ask for any port", async () => {
  const ports = await Promise.all(Array.from({ length: PORTS }, () => freePort()));
  expect(Math.max(...ports)).toBeLessThan(FIRST_GIVEN_PORT);
  expect(Math.min(...ports)).toBeGreaterThanOrEqual(1_024);
});

test("a wanted port is taken while it is free, and another one when it is not", async () => {
  const wanted = await freePort();
  expect(await freePort(wanted)).toBe(wanted);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await freePort(port)).not.toBe(port);
  server.close();
});
