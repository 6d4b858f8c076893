import type { Page } from "@playwright/test";

/** The API reference's renderer tries once whether it may compile code, and goes without. The policy goes on forbidding it. */
const RENDERER_TRIES = /^script-src eval \S+\/scalar-[\da-f]+\.js .*\/api-reference\/frame$/;

/** Everything that the browser refused because of a content security policy since the page was opened. */
export const watchPolicy = async (page: Page): Promise<string[]> => {
  const found: string[] = [];
  await page.exposeFunction("reportViolation", (text: string) => RENDERER_TRIES.test(text) || found.push(text));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event;
      const text = [effectiveDirective, blockedURI, sourceFile, lineNumber, sample, location.pathname].join(" ");
      void (window as unknown as { reportViolation: (text: string) => Promise<void> }).reportViolation(text);
    });
  });
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) found.push(message.text());
  });
  return found;
};
