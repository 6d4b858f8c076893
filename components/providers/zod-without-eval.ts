import { z } from "zod";

// The content security policy of the pages forbids eval, and zod would try it for every schema that comes after this line.
z.config({ jitless: true });
