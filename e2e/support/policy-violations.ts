import type { Page } from "@playwright/test";

/**
 * Matches one expected violation. The renderer of the API reference tests once whether it may
 * compile code, and works without it. The content security policy forbids this test on purpose.
 */
const RENDERER_TRIES = /^script-src eval \S+\/scalar-[\da-f]+\.js .*\/api-reference\/frame$/;

/**
 * Collects everything that the browser refuses from now on because of a content security policy.
 */
export const watchPolicy = async (page: Page): Promise<string[]> => {
  const found: string[] = [];
  await page.exposeFunction(
    "reportViolation",
    (text: string) => RENDERER_TRIES.test(text) || found.push(text),
  );
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event;
      const text = [
        effectiveDirective,
        blockedURI,
        sourceFile,
        lineNumber,
        sample,
        location.pathname,
      ].join(" ");
      void (
        window as unknown as { reportViolation: (text: string) => Promise<void> }
      ).reportViolation(text);
    });
  });
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) found.push(message.text());
  });
  return found;
};
