import { describe, expect, test } from "vitest";
import { contracts } from "@/lib/contracts/all";
import { isOwnHost, requireDevelopment } from "./own-host";

const PUBLIC_URL = "https://pay.example.org";

describe("a request under the name of this machine or of PUBLIC_URL", () => {
  test.each([
    "localhost",
    "localhost:3000",
    "LOCALHOST:1",
    "127.0.0.1:3000",
    "[::1]",
    "[::1]:3000",
    "pay.example.org",
  ])("%s is known, whatever the port", (host) =>
    expect(isOwnHost(host, PUBLIC_URL)).toBe(true),
  );

  test.each([
    null,
    "",
    "evil.example",
    "evil.example:3000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "pay.example.org.evil.example",
    "localhost@evil.example",
    "evil.example@localhost",
    "evil.example/localhost",
    "evil.example#localhost",
    "10.0.0.2",
    "0.0.0.0:3000",
  ])("%s is another site's", (host) => expect(isOwnHost(host, PUBLIC_URL)).toBe(false));
});

describe("what exists only in development", () => {
  const ask = (path: string, host: string, env: "development" | "production"): string => {
    try {
      requireDevelopment({ path, host, config: { env, publicUrl: PUBLIC_URL } });
      return "allowed";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  test("is not there in production, and answers no other site's name in development", () => {
    for (const path of ["/dev", "/dev/mail", "/dev/no-such-page", "/dev/inbox"]) {
      expect(ask(path, "localhost:3000", "development"), path).toBe("allowed");
      expect(ask(path, "evil.example", "development"), path).toBe("forbidden");
      expect(ask(path, "localhost:3000", "production"), path).toBe("not_found");
    }
    expect(ask("/developers", "evil.example", "production")).toBe("allowed");
  });

  test("is every route with the tag Development, and no other", () => {
    const isBelow = ({ path }: { path: string }): boolean =>
      ask(path, "localhost", "production") === "not_found";
    expect(contracts.filter(isBelow)).toEqual(
      contracts.filter(({ tag }) => tag === "Development"),
    );
  });
});
