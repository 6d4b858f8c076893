import { z } from "zod";
import { id, timestamp } from "./common";
import { defineContract } from "./contract";
import { tags, tagsOut } from "./tags";

const tag = "Operations";
const MEMO_MAX = 500;
const IDS_MAX = 100;

const subject = z
  .union([id("op"), id("po")])
  .meta({ description: "Id of an operation (op_) or a payout (po_)" });

const annotationRecord = z
  .object({
    id: subject,
    memo: z.string().meta({ description: "What people noted; empty where they noted nothing" }),
    tags: tagsOut,
    updatedBy: z
      .string()
      .meta({ description: "Who wrote it last: a person (usr_) or an API key (key_)" }),
    updatedAt: timestamp.meta({ description: "When it was written last" }),
  })
  .meta({ id: "Annotation" });

export const listAnnotations = defineContract({
  method: "GET",
  path: "/annotations",
  summary: "Memos and tags of operations and payouts",
  description:
    "Those of the given ids that have a memo or tags. Ids that name nothing are left out. Changes nothing. With an API key, those of payouts need the scope `payouts:read` too.",
  tag,
  auth: "member",
  scope: "operations:read",
  query: z.object({
    ids: z
      .string()
      .max(IDS_MAX * 41)
      .regex(
        /^(op|po)_[0-9a-f-]{1,36}(,(op|po)_[0-9a-f-]{1,36})*$/,
        "Give ids of operations and payouts, separated by commas",
      )
      .refine((text) => text.split(",").length <= IDS_MAX, "At most 100 ids")
      .meta({ description: "Ids of operations and payouts, separated by commas, 100 at most" }),
  }),
  status: 200,
  response: z.object({
    data: z.array(annotationRecord).meta({ description: "In no particular order" }),
  }),
});

export const putAnnotation = defineContract({
  method: "PUT",
  path: "/annotations/{id}",
  summary: "Writes the memo and tags of an operation or a payout",
  description:
    "Replaces both. They are for people: searchable in GET /operations, and in its CSV. They change nothing about the movement and are not part of what is approved. With an API key, a payout needs the scope `payouts:write` too.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "operations:write",
  params: z.object({ id: subject }),
  body: z.object({
    memo: z
      .string()
      .trim()
      .max(MEMO_MAX)
      .default("")
      .meta({ description: "At most 500 characters" }),
    tags: tags.default([]),
  }),
  status: 200,
  response: annotationRecord,
  errors: ["not_found"],
});
