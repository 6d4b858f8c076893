import { expect, openPage, test, type Browser, type Page } from "./support/test";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { createApiClient, type ApiClient } from "@/lib/api-client/client";
import { createApiKey } from "@/lib/contracts/api-keys";
import { whoAmI } from "@/lib/contracts/auth";
import { createWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import { approveChange } from "./support/approve-change";
import { checkLooks } from "./support/axe";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const apiWith = (headers: Readonly<Record<string, string>>): ApiClient =>
  createApiClient({
    baseUrl: new URL("/api", process.env.E2E_BASE_URL).href,
    headers: () => headers,
  });

/** Returns the API client of a second session of the person, as a thief would use it. */
const otherSession = async (
  browser: Browser,
  account: PrivateKeyAccount,
): Promise<ApiClient> => {
  const context = await browser.newContext();
  await signIn(context.request, account);
  const session = (await (await context.request.get("/api/auth/session")).json()) as {
    accessToken: string;
  };
  await context.close();
  return apiWith({ authorization: `Bearer ${session.accessToken}` });
};

const keyOf = async (api: ApiClient, name: string): Promise<ApiClient> => {
  const { secret } = await api.call(createApiKey, { body: { name } });
  const key = apiWith({ "x-api-key": secret });
  await key.call(whoAmI);
  return key;
};

const isRefused = (key: ApiClient): Promise<void> =>
  expect(async () => {
    await expect(key.call(whoAmI)).rejects.toMatchObject({
      status: 401,
      code: "api_key_suspended",
    });
  }).toPass();

/** Path of the newest mailed link "This was not me". */
const mailedLink = async (page: Page, { email }: TestProject): Promise<string> => {
  let link = "";
  await expect(async () => {
    const response = await page.request.get("/api/dev/inbox", {
      params: { to: email, limit: 10 },
    });
    const { data } = (await response.json()) as { data: { text: string }[] };
    link =
      data
        .map(({ text }) => /\/not-me#\S+/.exec(text)?.[0] ?? "")
        .find((found) => found !== "") ?? "";
    expect(link).not.toBe("");
  }).toPass({ timeout: 30_000 });
  return link;
};

/** Signs in a person with a project, and makes an API key in a second session. */
const stolenSession = async (page: Page, browser: Browser) => {
  const account = privateKeyToAccount(generatePrivateKey());
  await signIn(page.request, account);
  const project = await projectOf(page);
  const thief = await otherSession(browser, account);
  const key = await keyOf(thief, "Backup job");
  return { project, thief, key };
};

test("a person ends all other sessions, sees what that suspends, and restores what was theirs", async ({
  page,
  browser,
}) => {
  const { project, thief, key } = await stolenSession(page, browser);
  await thief.call(createWebhookEndpoint, {
    body: { url: "http://127.0.0.1:1999/hook", events: ["*"] },
  });

  await page.goto("/settings/security");
  const sessions = page.getByRole("region", { name: "Sessions" });
  await sessions.getByRole("button", { name: "End all others" }).click();
  const dialog = page.getByRole("alertdialog", { name: "End all other sessions?" });
  await expect(dialog.getByRole("listitem")).toHaveText([
    /http:\/\/127\.0\.0\.1:1999\/hook.*Webhook endpoint/,
    /Backup job.*API key/,
  ]);
  await checkLooks(page, "ending all other sessions");
  await dialog.getByRole("button", { name: "End all others" }).click();
  await expect(dialog).toHaveCount(0);
  await isRefused(key);

  const suspended = page.getByRole("region", { name: "Suspended" });
  await expect(suspended.getByRole("listitem")).toHaveCount(2);
  await checkLooks(page, "what was suspended");
  await page.goto("/api-keys");
  await expect(page.getByRole("row", { name: /Backup job/ })).toContainText("Suspended");
  await page.goto("/webhooks");
  await page.getByRole("link", { name: /127\.0\.0\.1:1999/ }).click();
  await expect(
    page.getByRole("alert").filter({ hasText: "the session that made it was ended" }),
  ).toBeVisible();

  await page.goto("/settings/security");
  const ofKey = suspended.getByRole("listitem").filter({ hasText: "Backup job" });
  await ofKey.getByRole("button", { name: "Restore …" }).click();
  await page
    .getByRole("dialog", { name: "Restore this?" })
    .getByRole("button", { name: "Restore" })
    .click();
  await expect(page.getByRole("region", { name: "Change to approve" })).toContainText(
    'API key "Backup job"',
  );
  await approveChange(page, project);
  await expect(suspended.getByRole("listitem")).toHaveCount(1);
  await page.goto("/api-keys");
  await expect(page.getByRole("row", { name: /Backup job/ })).toContainText("Active");
  await expect(async () => {
    await key.call(whoAmI);
  }).toPass();
});

test("an owner who opens the mailed link and presses its button suspends what was made, without a sign-in", async ({
  page,
  browser,
}) => {
  const { project, thief, key } = await stolenSession(page, browser);
  const link = await mailedLink(page, project);

  const opened = await openPage(browser);
  await opened.goto(link);
  const thing = opened.getByRole("region", { name: "API key" });
  await expect(thing).toContainText("Backup job");
  await checkLooks(opened, "a link of what was made");
  await key.call(whoAmI);
  await thing.getByRole("button", { name: "This was not me: suspend it" }).click();
  await expect(thing).toContainText("1 thing was suspended");
  await checkLooks(opened, "a link of what was suspended");
  await isRefused(key);
  await expect(async () => {
    await expect(thief.call(whoAmI)).rejects.toMatchObject({ status: 401 });
  }).toPass();
  await opened.context().close();
});
