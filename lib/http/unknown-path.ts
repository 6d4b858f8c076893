import { namedContracts } from "@/lib/contracts/all";
import { closestName } from "@/lib/core/closest-name";
import { DomainError } from "@/lib/core/errors";

/**
 * The form of names in paths. Other or longer texts may be secrets in a wrong place, so they are
 * not repeated.
 */
const NAME = /^[A-Za-z][\w.-]{0,29}$/;
/** Ids, addresses and other values that can replace `{id}` in a path. */
const VALUE = /^(?:[a-z]{2,4}_.+|0x[0-9a-fA-F]+|\d+|\{.*\}|:.+)$/;

const form = (path: string): string =>
  path
    .split("/")
    .map((segment) => (VALUE.test(segment) ? "{}" : segment))
    .join("/");

export const closestPath = (path: string): string | null => {
  const paths = [...new Set(namedContracts.map(({ contract }) => contract.path))];
  const closest = closestName(form(path), paths.map(form));
  return paths.find((each) => form(each) === closest) ?? null;
};

/**
 * The error for a path that no operation has. It differs from the error for a missing object.
 * @param path relative to /api
 */
export const unknownPath = (path: string): DomainError => {
  const shown = path
    .split("/")
    .map((segment) => (segment === "" || NAME.test(segment) ? segment : "…"))
    .join("/");
  const closest = closestPath(path);
  const hint =
    closest === null ? "GET /openapi.json lists the paths." : `Did you mean ${closest}?`;
  return new DomainError("not_found", `No operation has the path ${shown}. ${hint}`);
};
