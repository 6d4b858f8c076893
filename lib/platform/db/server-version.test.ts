import { expect, test } from "vitest";
import { serverVersionFault } from "./migrate";

const server = (number: number, version: string) =>
  ({ query: () => Promise.resolve({ rows: [{ number, version }] }) }) as never;

test("PostgreSQL before 15 is refused by name, and 15 is accepted", async () => {
  expect(await serverVersionFault(server(140_012, "14.12"))).toContain("names version 14.12");
  expect(await serverVersionFault(server(150_000, "15.0"))).toBeNull();
  expect(await serverVersionFault(server(180_004, "18.4"))).toBeNull();
});
