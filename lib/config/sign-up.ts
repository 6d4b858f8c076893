import { getAddress, isAddress, type Address } from "viem";
import type { Variables } from "./production";

/** Who may sign in for the first time. `closed` admits the first person of an empty installation, and nobody after. */
export type SignUp =
  | { readonly mode: "open" | "closed" }
  | { readonly mode: "allow-list"; readonly addresses: readonly Address[] };

/** Reads `SIGN_UP_ALLOW`; a part that is not an address becomes a problem. */
const addressesOf = (list: string, problems: string[]): Address[] => {
  const parts = list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const wrong = parts.filter((part) => !isAddress(part));
  problems.push(...wrong.map((part) => `SIGN_UP_ALLOW: ${part} is no address, or has a wrong checksum (EIP-55)`));
  return parts.filter((part) => isAddress(part)).map((part) => getAddress(part));
};

/** Reads the variables `SIGN_UP` and `SIGN_UP_ALLOW`. Development admits everybody by default; production nobody but the first person. */
export const signUpOf = (variables: Variables, problems: string[]): SignUp => {
  const otherwise = variables.CAUSEWAY_ENV === "production" ? "closed" : "open";
  const mode = variables.SIGN_UP ?? otherwise;
  const list = variables.SIGN_UP_ALLOW ?? "";
  if (mode !== "allow-list") {
    if (list !== "") problems.push("SIGN_UP_ALLOW is only read with SIGN_UP=allow-list");
    return { mode: mode === "open" ? "open" : "closed" };
  }
  const addresses = addressesOf(list, problems);
  if (list.trim() === "") problems.push("SIGN_UP=allow-list needs SIGN_UP_ALLOW, the addresses that may sign up");
  return { mode, addresses };
};
