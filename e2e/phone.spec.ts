import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, openPage, test, type Page } from "./support/test";
import { checkLooks, settle } from "./support/axe";
import { typeCode } from "./support/person";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

interface Chat {
  readonly url: string;
  readonly posts: string[];
  status: number;
  close(): void;
}

/** Plays an incoming webhook of a chat. */
const playChat = async (): Promise<Chat> => {
  const posts: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
    request.on("end", () => {
      posts.push(text);
      response.writeHead(chat.status).end(chat.status === 200 ? "ok" : "no_service");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const chat: Chat = {
    url: `http://127.0.0.1:${String(port)}/services/T0/B0/secret`,
    posts,
    status: 200,
    close: () => void server.close(),
  };
  return chat;
};

test("an owner adds a Slack channel, sends a test, and sees whether the chat took it", async ({
  page,
}) => {
  const chat = await playChat();
  await signIn(page.request);
  const owner = await projectOf(page);
  await page.goto("/settings/notifications");
  const card = page.getByRole("region", { name: "Slack and Microsoft Teams" });
  await expect(card.getByText("No chat yet")).toBeVisible();
  await card.getByRole("button", { name: "Add a chat" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a chat" });
  await dialog.getByLabel("Name").fill("#treasury");
  await dialog.getByLabel("Address of the incoming webhook").fill(chat.url);
  await checkLooks(page, "dialog of a chat");
  await dialog.getByRole("button", { name: "Add chat" }).click();
  // A new receiver needs a proof, and the text shows no secret.
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await expect(dialog).not.toContainText("services/T0");
  await typeCode(page, await owner.code());
  await expect(dialog).toHaveCount(0);

  const list = card.getByRole("list", { name: "Chats" });
  await expect(list).toContainText("Without amounts.");
  await expect(list).not.toContainText("services/T0");
  await card.getByRole("button", { name: "Send a test" }).click();
  await expect(card.getByText(/^Last message accepted/)).toBeVisible();
  expect(JSON.parse(chat.posts[0] ?? "{}")).toMatchObject({ blocks: expect.any(Array) });
  chat.status = 404;
  await card.getByRole("button", { name: "Send a test" }).click();
  await expect(card.getByText(/It answered 404: no_service/)).toBeVisible();
  await settle(page);
  await checkLooks(page, "settings of notifications with a chat");

  await card.getByRole("button", { name: "Turn off", exact: true }).click();
  await expect(card.getByText("Off", { exact: true })).toBeVisible();
  await card.getByRole("button", { name: "Remove" }).click();
  await page
    .getByRole("alertdialog", { name: "Remove #treasury?" })
    .getByRole("button", { name: "Remove" })
    .click();
  await expect(card.getByText("No chat yet")).toBeVisible();
  chat.close();
});

/** Paths of everything that the service worker has stored. */
const storedPaths = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const names = await caches.keys();
    const requests = await Promise.all(
      names.map(async (name) => (await caches.open(name)).keys()),
    );
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });

test("the app can be installed; without a network it says that it is offline, and it stores no data", async ({
  browser,
}) => {
  const page = await openPage(browser, { serviceWorkers: "allow" });
  await signIn(page.request);
  await page.goto("/");
  const manifest = await page.request.get(
    (await page.locator("link[rel=manifest]").getAttribute("href")) ?? "",
  );
  const { icons, start_url: start } = (await manifest.json()) as {
    icons: { src: string }[];
    start_url: string;
  };
  expect(start).toBe("/");
  for (const { src } of icons) expect((await page.request.get(src)).ok(), src).toBe(true);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await expect
    .poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null))
    .toBe(true);
  // Pages that were opened through the worker are not stored.
  await page.goto("/activity");
  await page.goto("/inbox");

  await page.context().setOffline(true);
  await page.goto("/balances");
  await expect(page.getByRole("heading", { name: "You are offline" })).toBeVisible();
  await expect(page.getByText("Nothing was sent from here")).toBeVisible();
  await checkLooks(page, "the offline page");
  expect((await storedPaths(page)).toSorted()).toEqual([
    "/icon.svg",
    "/offline.css",
    "/offline.html",
  ]);

  await page.context().setOffline(false);
  await page.getByRole("link", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { name: "Balances", level: 1 })).toBeVisible();
  await page.context().close();
});

test("push is off until the person asks, and the browser is asked only after the click", async ({
  browser,
}) => {
  const page = await openPage(browser, { serviceWorkers: "allow" });
  await page.addInitScript(() => {
    const asked = { count: 0 };
    Object.assign(window, { asked });
    Notification.requestPermission = () => {
      asked.count += 1;
      return Promise.resolve("denied");
    };
  });
  await signIn(page.request);
  await page.goto("/settings/notifications");
  const card = page.getByRole("region", { name: "Push to this browser" });
  await expect(card.getByText("Off in this browser.")).toBeVisible();
  const asked = () =>
    page.evaluate(() => (window as unknown as { asked: { count: number } }).asked.count);
  expect(await asked()).toBe(0);
  await card.getByRole("button", { name: "Turn on" }).click();
  await expect(card.getByText(/does not allow notifications/)).toBeVisible();
  expect(await asked()).toBe(1);
  await settle(page);
  await checkLooks(page, "push that the browser refused");
  await page.context().close();
});
