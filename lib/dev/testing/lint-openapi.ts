/** Lints an OpenAPI document with the recommended rules of Redocly and those of the project. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { ownFindings, type OpenApiDocument } from "./openapi-rules";

/** A finding: the rule, the place and the fault. */
export type Finding = string;

const RULES = {
  // Each operation, parameter and tag must have a description.
  "operation-description": "error",
  "parameter-description": "error",
  "tag-description": "error",
  "operation-operationId": "error",
  "operation-operationId-unique": "error",
  "operation-tag-defined": "error",
  "no-unused-components": "error",
  // `/payouts/schedules/{id}` and `/payouts/{id}/items` do not conflict, because ids have a prefix,
  // so no payout is named "schedules".
  "no-ambiguous-paths": "off",
  // Strict in one direction: an example may omit optional fields, but may not have fields that its
  // schema lacks.
  "no-invalid-media-type-examples": { severity: "error", allowAdditionalProperties: false },
  "no-invalid-schema-examples": "error",
  // The only server is the path at which the installation serves its API.
  "no-server-example.com": "error",
} as const;

/**
 * Lints a document with Redocly's recommended rules and the project's own rules.
 * @returns the findings, one per line; empty for a valid document
 */
export const lintOpenApi = async (document: object): Promise<Finding[]> => {
  const config = await createConfig({ extends: ["recommended"], rules: RULES });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  const findings = problems.map(({ ruleId, message, location }) => {
    const [place] = location;
    return `${ruleId} ${place?.pointer ?? ""}: ${message}`;
  });
  return [...findings, ...ownFindings(document as OpenApiDocument)];
};
