import { z } from "zod";

const TAG_LENGTH_MAX = 32;
const TAGS_MAX = 10;

export const tags = z
  .array(
    z
      .string()
      .trim()
      .min(1)
      .max(TAG_LENGTH_MAX)
      .regex(/^[^,]*$/, "A tag has no comma"),
  )
  .max(TAGS_MAX)
  .refine(
    (all) => new Set(all.map((tag) => tag.toLowerCase())).size === all.length,
    "Each tag stands once",
  )
  .meta({ description: "Labels, 10 at most, of 1–32 characters each" });

export const tagsOut = z.array(z.string()).meta({ description: "Labels that people gave" });
