import { z } from "zod";
import { address, id, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Address book";

const contactRecord = z
  .object({
    id: id("ct"),
    name: z.string(),
    address,
    createdBy: z.string(),
    createdAt: timestamp,
  })
  .meta({ id: "Contact" });
const name = z.string().trim().min(1).max(80);
const params = z.object({ id: id("ct") });

export const listContacts = defineContract({
  method: "GET",
  path: "/contacts",
  summary: "The project's address book, by name (1,000 at most)",
  tag,
  auth: "member",
  scope: "transfers:read",
  status: 200,
  response: z.object({ data: z.array(contactRecord) }),
});

export const createContact = defineContract({
  method: "POST",
  path: "/contacts",
  summary: "Puts an address into the address book; one that is there already is renamed",
  tag,
  auth: "member",
  scope: "transfers:write",
  body: z.object({ name, address }),
  status: 201,
  response: contactRecord,
});

export const deleteContact = defineContract({
  method: "DELETE",
  path: "/contacts/{id}",
  summary: "Takes an address out of the address book",
  tag,
  auth: "member",
  scope: "transfers:write",
  params,
  status: 200,
  response: z.object({ id: id("ct") }),
  errors: ["not_found"],
});
