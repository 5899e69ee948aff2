// Host libraries that the machine does not carry (record CompressRun). Pure: the same bytes in, the same bytes out.

import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { answered, describeCause, provider, refused } from '../tools/executors/provider.js'
import type { Provider } from '../tools/executors/provider.js'

/** Unpacking more than this is refused, as by the machine's own decoders: a small input can name a huge output. */
const MAX_UNPACKED_BYTES = 256 << 20

export function compressProvider(): Provider {
  return provider({
    kinds: ['compress.run'],
    perform(effect) {
      const { op, data, level } = effect.args
      try {
        switch (op) {
          case 'brotli_encode': {
            const quality = Math.min(11, Math.max(0, level))
            const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: data.length }
            return answered(new Uint8Array(brotliCompressSync(data, { params })))
          }
          case 'brotli_decode':
            return answered(new Uint8Array(brotliDecompressSync(data, { maxOutputLength: MAX_UNPACKED_BYTES })))
        }
      } catch (cause) {
        // The decoder's error codes are meaningless to a script.
        if (op !== 'brotli_decode') return refused('EINVAL', describeCause(cause))
        return refused('EINVAL', cause instanceof RangeError ? 'content is too large' : 'Invalid Data')
      }
    },
  })
}
