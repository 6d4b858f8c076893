import type { Metadata } from "next";
import type { ReactNode } from "react";
import { SecuritySettings } from "@/components/features/profile/sections";

export const metadata: Metadata = { title: "Sign-in and sessions" };

const Page = (): ReactNode => <SecuritySettings />;

export default Page;
