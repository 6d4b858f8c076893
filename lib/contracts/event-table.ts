/**
 * The table of docs/webhooks.md: types of events, their data, and the scope that an API key needs.
 */
import { z } from "zod";
import { EVENT_GROUPS, type EventType } from "./events";
import { scopesOfGroup, type EventGroup } from "./event-readers";
import { eventDataOf } from "./webhook-payloads";

const code = (text: string): string => `\`${text}\``;

const fieldsOf = (schema: z.ZodType): string => {
  if (schema instanceof z.ZodUnion)
    return schema.options.map((option) => fieldsOf(option as z.ZodType)).join("; or ");
  if (!(schema instanceof z.ZodObject))
    throw new Error("The data of an event must be an object, or one of several.");
  return Object.keys(schema.shape).map(code).join(", ");
};

const scopeInWords = (group: EventGroup): string => {
  const scopes = scopesOfGroup(group);
  if (scopes === null) return "only people";
  return scopes.length === 0
    ? `none beside ${code("webhooks:read")}`
    : scopes.map(code).join(", ");
};

/** The rows of the table for one group. Types with the same data share one row. */
const rowsOf = (group: EventGroup): string[] => {
  const types: readonly EventType[] = EVENT_GROUPS[group];
  const byData = new Map<z.ZodType, EventType[]>();
  for (const type of types)
    byData.set(eventDataOf(type), [...(byData.get(eventDataOf(type)) ?? []), type]);
  return [...byData].map(
    ([data, same]) =>
      `| ${same.map(code).join(", ")} | ${fieldsOf(data)} | ${scopeInWords(group)} |`,
  );
};

const HEAD = ["| Types | `data` | Scope of an API key |", "| --- | --- | --- |"];

const table = (): string =>
  [...HEAD, ...(Object.keys(EVENT_GROUPS) as EventGroup[]).flatMap(rowsOf)].join("\n");

const BEGIN = `<!-- Types of events, written by npm run generate -->`;
const END = "<!-- End of the types of events -->";
const TABLE = new RegExp(`${BEGIN}\n[^]*?${END}`);

/**
 * Puts the table between the document's two marker comments.
 * @throws Error when the markers are missing
 */
export const withEventTable = (document: string): string => {
  if (!TABLE.test(document))
    throw new Error(`The document has no place for the table: ${BEGIN} … ${END}`);
  return document.replace(TABLE, () => `${BEGIN}\n\n${table()}\n\n${END}`);
};
