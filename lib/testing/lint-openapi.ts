/** Lints an OpenAPI document with the recommended rules of Redocly and those of the project. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { ownFindings, type OpenApiDocument } from "./openapi-rules";

/** A finding: the rule, the place and the fault. */
export type Finding = string;

const RULES = {
  // Each operation, parameter and tag is explained.
  "operation-description": "error",
  "parameter-description": "error",
  "tag-description": "error",
  "operation-operationId": "error",
  "operation-operationId-unique": "error",
  "operation-tag-defined": "error",
  "no-unused-components": "error",
  // `/payouts/schedules/{id}` and `/payouts/{id}/items` are told apart by the prefix of an id: no payout is named "schedules".
  "no-ambiguous-paths": "off",
  // Strict in one direction: an example may leave optional fields out, and has none that its schema does not know.
  "no-invalid-media-type-examples": { severity: "error", allowAdditionalProperties: false },
  "no-invalid-schema-examples": "error",
  // The one server is the path at which the installation serves its API.
  "no-server-example.com": "error",
} as const;

/** @returns what is wrong, one line each; empty for a good document */
export const lintOpenApi = async (document: object): Promise<Finding[]> => {
  const config = await createConfig({ extends: ["recommended"], rules: RULES });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  const findings = problems.map(({ ruleId, message, location }) => {
    const [place] = location;
    return `${ruleId} ${place?.pointer ?? ""}: ${message}`;
  });
  return [...findings, ...ownFindings(document as OpenApiDocument)];
};
