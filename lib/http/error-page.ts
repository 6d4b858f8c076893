/** The page of the error catalogue that explains one code: the target of `docsUrl`. */
import type { ErrorCode } from "@/lib/core/errors";
import { ERROR_GUIDE } from "./error-guide";
import { ERROR_EXAMPLES } from "./openapi-errors";
import { STATUS_OF } from "./problem";
import { escaped, plainPage } from "./edge-error";

const section = (title: string, html: string): string => `<h2>${title}</h2>${html}`;

export const errorPage = (code: ErrorCode): string => {
  const { when, action } = ERROR_GUIDE[code];
  const example = JSON.stringify(ERROR_EXAMPLES[code], null, 2);
  return plainPage({
    title: code,
    main: [
      `<p>Error of the Causeway API, usually with the HTTP status ${String(STATUS_OF[code])}.</p>`,
      section("When", `<p>${escaped(when)}</p>`),
      section("What to do", `<p>${escaped(action)}</p>`),
      section("Example", `<pre>${escaped(example)}</pre>`),
    ].join(""),
  });
};
