import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, type Locator, type Page } from "./support/test";
import { createApiKey } from "@/lib/contracts/api-keys";
import { listContacts } from "@/lib/contracts/contacts";
import { listGlobalAccounts } from "@/lib/contracts/global-accounts";
import { createProject } from "@/lib/contracts/members";
import { PREFERENCE_COOKIES } from "@/lib/core/browser-cookies";
import { checkLooks } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const FRAME = "/api-reference/frame";
const RENDER_TIMEOUT_MS = 60_000;

/**
 * Collects requests to other hosts, violations of the content security policy, and errors of
 * scripts.
 */
const watch = async (page: Page): Promise<{ foreign: Set<string>; problems: string[] }> => {
  const found = { foreign: new Set<string>(), problems: [] as string[] };
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && !["localhost", "127.0.0.1"].includes(hostname))
      found.foreign.add(hostname);
  });
  page.on("pageerror", (error) => found.problems.push(error.message));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) found.problems.push(message.text());
  });
  return Promise.resolve(found);
};

test("the API reference is drawn from this installation alone, under its policy, and calls as the signed-in person", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const { foreign, problems } = await watch(page);
  await signIn(page.request);
  const { accessToken } = (await (await page.request.get("/api/auth/session")).json()) as {
    accessToken: string;
  };
  const sent: (string | undefined)[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/auth/whoami")
      sent.push(request.headers().authorization);
  });

  await page.goto("/api-reference");
  const frame = page.frameLocator("iframe[title='API reference']");
  await expect(frame.getByRole("heading", { name: "Causeway" })).toBeVisible({
    timeout: RENDER_TIMEOUT_MS,
  });
  // GET /auth/whoami changes nothing, and answers 200 to everybody who is signed in.
  await frame.getByRole("button", { name: "Test Request (get /auth/whoami)" }).click();
  await frame.getByRole("button", { name: /^Send/ }).first().click();
  await expect.poll(() => sent.length, { timeout: RENDER_TIMEOUT_MS }).toBeGreaterThan(0);
  expect(sent[0]).toBe(`Bearer ${accessToken}`);
  await expect(frame.getByText("200 OK").first()).toBeVisible();

  for (const path of ["/api-reference", FRAME]) {
    const html = await (await page.request.get(path)).text();
    expect(html, path).not.toContain(accessToken);
  }
  expect([...foreign]).toEqual([]);
  expect(problems).toEqual([]);
});

test("the API reference sends requests in the chosen project", async ({ page }) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const { api } = await projectOf(page);
  const { id: projectId } = await api.call(createProject, { body: { name: "Second" } });
  const url = new URL("/", process.env.E2E_BASE_URL).href;
  await page
    .context()
    .addCookies([{ name: PREFERENCE_COOKIES.project, value: projectId, url }]);

  await page.goto("/api-reference");
  const frame = page.frameLocator("iframe[title='API reference']");
  await frame
    .getByRole("button", { name: "Test Request (get /auth/whoami)" })
    .click({ timeout: RENDER_TIMEOUT_MS });
  const answered = page.waitForResponse(
    (response) => new URL(response.url()).pathname === "/api/auth/whoami",
  );
  await frame.getByRole("button", { name: /^Send/ }).first().click();
  expect(await (await answered).json()).toMatchObject({ projectId });
});

test("the page of the API reference fits phones and both themes, and only its own pages may frame it", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  await page.goto("/api-reference");
  const body = page.frameLocator("iframe[title='API reference']").locator("body");
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(body).toHaveClass(/dark-mode/, { timeout: RENDER_TIMEOUT_MS });
  await page.emulateMedia({ colorScheme: "light" });
  await expect(body).toHaveClass(/light-mode/);
  await checkLooks(page, "/api-reference");

  const headers = (await page.request.get(FRAME)).headers();
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'self'");
  expect(headers["content-security-policy"]).not.toMatch(
    /script-src[^;]*unsafe|style-src [^;]*unsafe/,
  );
  const script =
    /data-renderer="([^"]+)"/.exec(await (await page.request.get(FRAME)).text())?.[1] ?? "";
  const file = await page.request.get(script);
  expect(file.headers()["cache-control"]).toContain("immutable");
  expect(file.headers()["content-encoding"]).toBe("gzip");
  expect((await page.request.get("/api-reference/other.js")).status()).toBe(404);
});

/** Returns the code sample in a language that the dialog or page shows. */
const snippetIn = async (part: Locator, language: string, label: string): Promise<string> => {
  await part.getByText("The same call by API").click();
  await part.getByRole("tab", { name: language }).click();
  return part.getByLabel(label, { exact: true }).innerText();
};

const run = async (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> =>
  (await promisify(execFile)(command, [...args], { env: { ...process.env, ...env } })).stdout;

test.describe("a call that a form shows does what the form does", () => {
  test.describe.configure({ timeout: 120_000 });

  test("cURL adds a contact as it stands in the form", async ({ page }) => {
    await signIn(page.request);
    const { api } = await projectOf(page);
    const { secret } = await api.call(createApiKey, {
      body: { name: "Shell", scopes: ["transfers:write"] },
    });
    await page.goto("/contacts?new=true");
    const dialog = page.getByRole("dialog", { name: "Add a contact" });
    await dialog.getByLabel("Name", { exact: true }).fill(`O'Hara "& Sons" $HOME`);
    await dialog.getByLabel("Address", { exact: true }).fill(ADA);
    await dialog.getByLabel("Tags").fill("Supplier, Cork");
    const command = await snippetIn(dialog, "cURL", "cURL command");
    expect(command).not.toContain(secret);
    await run("sh", ["-c", command], { CAUSEWAY_API_KEY: secret });
    expect((await api.call(listContacts)).data).toMatchObject([
      { name: `O'Hara "& Sons" $HOME`, address: ADA, tags: ["Supplier", "Cork"] },
    ]);
  });

  test("Python opens an account as it stands in the form", async ({ page }) => {
    test.skip(
      spawnSync("python3", ["--version"]).status !== 0,
      "python3 is not installed on this machine",
    );
    await signIn(page.request);
    const { api } = await projectOf(page);
    const { secret } = await api.call(createApiKey, {
      body: { name: "Python", scopes: ["accounts:write"] },
    });
    await page.goto("/accounts?new=true");
    const dialog = page.getByRole("dialog", { name: "Open a global account" });
    await dialog.getByLabel("Name", { exact: true }).fill("Ünal 'quoted' \\ end");
    const program = await snippetIn(dialog, "Python", "Python code");
    const printed = await run("python3", ["-c", `${program}\nprint(result["id"])`], {
      CAUSEWAY_API_KEY: secret,
    });
    const { data } = await api.call(listGlobalAccounts);
    expect(data).toMatchObject([{ id: printed.trim(), name: "Ünal 'quoted' \\ end" }]);
  });
});
