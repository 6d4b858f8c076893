import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "./support/test";
import { Webhook } from "standardwebhooks";
import { axeFaults, checkLooks, settle } from "./support/axe";
import { signIn } from "./support/sign-in";
import { expectNoHigherThan } from "./support/sizes";

interface Came {
  readonly headers: Record<string, string>;
  readonly raw: string;
}

/** A receiver that fails until `mend` is called, however often it is asked. */
const startReceiver = async () => {
  const came: Came[] = [];
  let status = 500;
  const server = createServer((request, response) => {
    let raw = "";
    request.on("data", (part: Buffer) => (raw += part.toString("utf8")));
    request.on("end", () => {
      came.push({ headers: request.headers as Record<string, string>, raw });
      response.writeHead(status).end("received");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    came,
    url: `http://127.0.0.1:${String(port)}/hook/of/payroll/for/the/whole/company/in/production`,
    mend: () => (status = 200),
    close: () => server.close(),
  };
};

test("an endpoint is made, tested, seen to fail and sent to again, and its secret verifies what came", async ({
  page,
}) => {
  const receiver = await startReceiver();
  await signIn(page.request);
  await page.goto("/webhooks");
  await page.getByRole("button", { name: "New endpoint" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "URL" }).fill("http://10.0.0.1/hook");
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  await expect(dialog.getByText(/not one of the public internet/).first()).toBeVisible();
  await dialog.getByRole("textbox", { name: "URL" }).fill(receiver.url);
  await dialog.getByLabel(/^All events/).uncheck();
  await dialog.getByLabel("All of payouts").check();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  const secret = (await page.getByTestId("webhook-secret").textContent()) ?? "";
  await page.getByRole("button", { name: "I have stored it" }).click();
  const shown = receiver.url.replace("http://", "");
  await page.getByRole("link", { name: shown }).click();
  await page.getByRole("button", { name: "Send test event" }).click();
  await expect(
    page.getByRole("table", { name: "Deliveries" }).getByText("HTTP 500"),
  ).toBeVisible();
  await page.getByRole("button", { name: "Details of webhook.test" }).click();
  // The service may have tried again meanwhile.
  await expect(
    page.getByRole("region", { name: /^answer to attempt \d+$/ }).first(),
  ).toContainText("received");
  receiver.mend();
  await page.getByRole("button", { name: "Resend" }).click();
  await expect(
    page.getByRole("table", { name: "Deliveries" }).getByText("HTTP 200").first(),
  ).toBeVisible();
  for (const { raw, headers } of receiver.came)
    expect(() => new Webhook(secret).verify(raw, headers)).not.toThrow();
  await settle(page);
  await checkLooks(page, "endpoint");
  await page.setViewportSize({ width: 390, height: 844 });
  const heading = page.getByRole("heading", { level: 1, name: shown });
  const oneLine = await heading.evaluate((element) =>
    Number.parseFloat(getComputedStyle(element).lineHeight),
  );
  await expectNoHigherThan(heading, 2 * oneLine - 1);
  await heading.getByText(shown).locator("..").focus();
  await expect(page.getByText(receiver.url, { exact: true })).toBeVisible();
  receiver.close();
});

test("the local receiver shows what arrives, and that its signature verifies", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/webhooks");
  await page.getByRole("link", { name: "local receiver" }).click();
  await expect(page.getByText("Nothing has arrived yet")).toBeVisible();
  await page.getByRole("button", { name: "Create an endpoint that sends here" }).click();
  await page.getByRole("list", { name: "Endpoints that send here" }).getByRole("link").click();
  await expect(page.getByRole("heading", { level: 1, name: "Local receiver" })).toBeVisible();
  await page.getByRole("button", { name: "Send test event" }).click();
  await expect(
    page.getByRole("table", { name: "Deliveries" }).getByText("HTTP 200"),
  ).toBeVisible();
  await page
    .getByRole("link", { name: /^Receiver/ })
    .first()
    .click();
  const requests = page.getByRole("list", { name: "Requests" });
  await expect(requests.getByText("Signature valid")).toBeVisible();
  await expect(page.getByRole("region", { name: "body of webhook.test" })).toContainText(
    '"type": "webhook.test"',
  );
  await requests.getByText("Headers").click();
  await expect(page.getByRole("region", { name: "headers of webhook.test" })).toContainText(
    "webhook-signature: v1,",
  );
  await settle(page);
  await checkLooks(page, "receiver");
});
