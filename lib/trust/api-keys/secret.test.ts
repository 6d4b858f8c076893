import { expect, test } from "vitest";
import { newApiKeySecret, parseApiKeySecret } from "./rules";

test("API key secrets have the published form and parse back", () => {
  for (const kind of ["test", "live"] as const) {
    const made = newApiKeySecret(kind);
    expect(made.secret).toMatch(new RegExp(`^cw_${kind}_[0-9A-Za-z]{49}$`));
    expect(parseApiKeySecret(made.secret)).toEqual(made);
    expect(made.lookup.length - `cw_${kind}_`.length).toBe(10);
  }
});

test("API key secrets with any one character changed are refused", () => {
  const { secret } = newApiKeySecret("test");
  for (let i = 0; i < secret.length; i++) {
    const other = secret[i] === "x" ? "y" : "x";
    expect(parseApiKeySecret(secret.slice(0, i) + other + secret.slice(i + 1))).toBeNull();
  }
});

test.each(["", "cw_test_", "sk_live_123", " ", "cw_test_".repeat(1000), "Bearer x"])(
  "API key secrets refuses %j",
  (text) => {
    expect(parseApiKeySecret(text)).toBeNull();
  },
);

test("API key secrets with anything before or after it are refused", () => {
  const { secret } = newApiKeySecret("live");
  for (const text of [`${secret}\n`, ` ${secret}`, `${secret}0`, secret.slice(0, -1)]) {
    expect(parseApiKeySecret(text)).toBeNull();
  }
});
