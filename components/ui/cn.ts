import { clsx, type ClassValue } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

const merge = extendTailwindMerge({
  extend: {
    theme: { radius: ["tag", "control", "card", "dialog"], text: ["xs", "sm", "base", "lg", "xl", "2xl", "3xl"] },
  },
});

/** Joins class names; a later Tailwind class wins over an earlier one of the same kind. */
export const cn = (...classes: ClassValue[]): string => merge(clsx(classes));
