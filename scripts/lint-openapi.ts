// `npm run check:openapi`: lints the OpenAPI document. Prints each fault, and exits with 1 when
// there is one.
import { namedContracts } from "@/lib/contracts/all";
import { openApiDocument } from "@/lib/http/openapi";
import { lintOpenApi } from "@/lib/dev/testing/lint-openapi";

const findings = await lintOpenApi(openApiDocument(namedContracts));
for (const finding of findings) console.error(finding);
console.log(`${String(findings.length)} findings in the OpenAPI document`);
process.exitCode = findings.length === 0 ? 0 : 1;
