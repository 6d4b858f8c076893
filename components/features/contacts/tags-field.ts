import { z } from "zod";
import { tags } from "@/lib/contracts/tags";
import { parseTags } from "./use-contacts";

const TAGS_TEXT_MAX = 400;

export const tagsText = z
  .string()
  .refine(
    (text) => tags.safeParse(parseTags(text)).success,
    "At most 10 tags of 32 characters each.",
  );

export const TAGS_FIELD = {
  label: "Tags",
  hint: "Separated by commas, for instance: Payroll, Berlin.",
  input: { maxLength: TAGS_TEXT_MAX },
} as const;
