//! Record files: one record a document, addressed by document number, each with its checksum.
//!
//! Layout: records back to back, then the offset of each (u64, one more than there are records), then the
//! dictionary of a compressed file, then a fixed footer. All integers are little-endian. A record is the
//! CRC-32 of its payload (u32) and the payload; in a compressed file the payload is the plain length (u32)
//! and a zstd frame.

use std::io::{self, Write};
use std::sync::Mutex;

use rayon::prelude::*;
use tantivy::directory::{FileSlice, OwnedBytes};
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::EncoderDictionary;

use super::IndexError;

const MAGIC: &[u8; 8] = b"sezrec01";

/// magic, records, offsets at, dictionary at, dictionary bytes, CRC-32 of all these.
const FOOTER_BYTES: usize = 8 + 8 + 8 + 8 + 8 + 4;

/// Level 3 is where this data stops shrinking much for the time it takes.
const ZSTD_LEVEL: i32 = 3;

/// A record over this many plain bytes is not one this project wrote.
const PLAIN_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Writes a record file from front to back.
pub(super) struct RecordWriter<W: Write> {
    out: W,
    written: u64,
    offsets: Vec<u64>,
    codec: Option<EncoderDictionary<'static>>,
    dictionary: Vec<u8>,
}

impl<W: Write> RecordWriter<W> {
    /// Records are written as they are.
    pub(super) fn plain(out: W) -> Self {
        Self {
            out,
            written: 0,
            offsets: vec![0],
            codec: None,
            dictionary: Vec::new(),
        }
    }

    /// Records are compressed one by one, with a dictionary (which may be empty).
    pub(super) fn compressed(out: W, dictionary: Vec<u8>) -> Self {
        Self {
            codec: Some(EncoderDictionary::copy(&dictionary, ZSTD_LEVEL)),
            dictionary,
            ..Self::plain(out)
        }
    }

    /// Appends one record.
    pub(super) fn push(&mut self, record: &[u8]) -> io::Result<()> {
        match &self.codec {
            None => self.append(record),
            Some(codec) => {
                let framed = frame(&mut Compressor::with_prepared_dictionary(codec)?, record)?;
                self.append(&framed)
            }
        }
    }

    /// Appends records in order, compressing them on every core.
    pub(super) fn push_all(&mut self, records: &[Vec<u8>]) -> io::Result<()> {
        let Some(codec) = &self.codec else {
            return records.iter().try_for_each(|record| self.append(record));
        };
        let framed: Vec<Vec<u8>> = records
            .par_chunks(64)
            .map(|records| {
                let mut compressor = Compressor::with_prepared_dictionary(codec)?;
                records
                    .iter()
                    .map(|record| frame(&mut compressor, record))
                    .collect()
            })
            .collect::<io::Result<Vec<Vec<Vec<u8>>>>>()?
            .concat();
        framed.iter().try_for_each(|payload| self.append(payload))
    }

    fn append(&mut self, payload: &[u8]) -> io::Result<()> {
        self.out
            .write_all(&crc32fast::hash(payload).to_le_bytes())?;
        self.out.write_all(payload)?;
        self.written += 4 + payload.len() as u64;
        self.offsets.push(self.written);
        Ok(())
    }

    /// Writes offsets, dictionary and footer, and hands the output back.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let mut footer = Vec::with_capacity(FOOTER_BYTES);
        footer.extend_from_slice(MAGIC);
        footer.extend_from_slice(&(self.offsets.len() as u64 - 1).to_le_bytes());
        footer.extend_from_slice(&self.written.to_le_bytes());
        let dictionary_at = self.written + 8 * self.offsets.len() as u64;
        footer.extend_from_slice(&dictionary_at.to_le_bytes());
        footer.extend_from_slice(&(self.dictionary.len() as u64).to_le_bytes());
        let checksum = crc32fast::hash(&footer);
        footer.extend_from_slice(&checksum.to_le_bytes());
        for offset in &self.offsets {
            self.out.write_all(&offset.to_le_bytes())?;
        }
        self.out.write_all(&self.dictionary)?;
        self.out.write_all(&footer)?;
        Ok(self.out)
    }
}

/// The payload of a compressed record: plain length and frame.
fn frame(compressor: &mut Compressor<'_>, record: &[u8]) -> io::Result<Vec<u8>> {
    let length =
        u32::try_from(record.len()).map_err(|_| io::Error::other("a record is over 4 GiB"))?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(compressor.compress(record)?);
    Ok(bytes)
}

/// Reads a record file; memory-mapped when the file is.
pub(super) struct RecordReader {
    name: &'static str,
    records: FileSlice,
    offsets: FileSlice,
    len: usize,
    codec: Option<Codec>,
}

/// Decompressors with the dictionary loaded, kept for reuse.
struct Codec {
    dictionary: OwnedBytes,
    idle: Mutex<Vec<Decompressor<'static>>>,
}

impl RecordReader {
    pub(super) fn open(
        name: &'static str,
        file: &FileSlice,
        compressed: bool,
    ) -> Result<Self, IndexError> {
        let torn = |reason: &str| IndexError::damaged(name, reason);
        let total = file.num_bytes().get_bytes();
        let footer_at = usize::try_from(total)
            .ok()
            .and_then(|total| total.checked_sub(FOOTER_BYTES))
            .ok_or_else(|| torn("it is shorter than its footer"))?;
        let footer = file
            .read_bytes_slice(footer_at..footer_at + FOOTER_BYTES)
            .map_err(IndexError::file("read", name))?;
        let body = &footer[..FOOTER_BYTES - 4];
        if &body[..8] != MAGIC {
            return Err(torn("it does not end in a footer of this format"));
        }
        if crc32fast::hash(body).to_le_bytes() != footer[FOOTER_BYTES - 4..] {
            return Err(torn("its footer does not match its checksum"));
        }
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&body[at..at + 8]);
            usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX)
        };
        let (len, offsets_at, dictionary_at, dictionary_bytes) =
            (number(8), number(16), number(24), number(32));
        let offsets_end = len
            .checked_add(1)
            .and_then(|count| count.checked_mul(8))
            .and_then(|bytes| bytes.checked_add(offsets_at));
        if offsets_end != Some(dictionary_at)
            || dictionary_at.checked_add(dictionary_bytes) != Some(footer_at)
        {
            return Err(torn("its parts do not add up to its size"));
        }
        let codec = if compressed {
            let dictionary = file
                .read_bytes_slice(dictionary_at..footer_at)
                .map_err(IndexError::file("read", name))?;
            Some(Codec {
                dictionary,
                idle: Mutex::new(Vec::new()),
            })
        } else {
            None
        };
        Ok(Self {
            name,
            records: file.slice_to(offsets_at),
            offsets: file.slice(offsets_at..dictionary_at),
            len,
            codec,
        })
    }

    /// The number of records.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The payload of a record, its checksum verified, not decompressed.
    fn payload(&self, record: usize) -> Result<OwnedBytes, IndexError> {
        let torn =
            |reason: &str| IndexError::damaged(self.name, format!("record {record}: {reason}"));
        if record >= self.len {
            return Err(torn("there is no such record"));
        }
        let pair = self
            .offsets
            .read_bytes_slice(8 * record..8 * record + 16)
            .map_err(IndexError::file("read", self.name))?;
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&pair[at..at + 8]);
            usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX)
        };
        let (start, end) = (number(0), number(8));
        let size = usize::try_from(self.records.num_bytes().get_bytes()).unwrap_or(usize::MAX);
        if end > size || start.checked_add(4).is_none_or(|front| front > end) {
            return Err(torn("its offsets leave the file"));
        }
        let bytes = self
            .records
            .read_bytes_slice(start..end)
            .map_err(IndexError::file("read", self.name))?;
        let (checksum, payload) = bytes.split(4);
        if crc32fast::hash(&payload).to_le_bytes() != checksum.as_slice() {
            return Err(torn("it does not match its checksum"));
        }
        Ok(payload)
    }

    /// A record of a plain file, without copying.
    pub(super) fn get(&self, record: usize) -> Result<OwnedBytes, IndexError> {
        let payload = self.payload(record)?;
        match &self.codec {
            None => Ok(payload),
            Some(codec) => self
                .decompress(codec, record, &payload)
                .map(OwnedBytes::new),
        }
    }

    fn decompress(
        &self,
        codec: &Codec,
        record: usize,
        payload: &[u8],
    ) -> Result<Vec<u8>, IndexError> {
        let torn =
            |reason: String| IndexError::damaged(self.name, format!("record {record}: {reason}"));
        let (length, frame) = payload
            .split_first_chunk::<4>()
            .ok_or_else(|| torn("it is shorter than its header".into()))?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > PLAIN_BYTES_MAX {
            return Err(torn("it claims to be larger than any record".into()));
        }
        let idle = codec
            .idle
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .pop();
        let mut decompressor = match idle {
            Some(decompressor) => decompressor,
            None => Decompressor::with_dictionary(&codec.dictionary)
                .map_err(|error| torn(error.to_string()))?,
        };
        let plain = decompressor.decompress(frame, length);
        codec
            .idle
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(decompressor);
        let plain = plain.map_err(|error| torn(error.to_string()))?;
        if plain.len() != length {
            return Err(torn("it is shorter than its header says".into()));
        }
        Ok(plain)
    }
}

/// Trains a dictionary for records like the samples; empty when there is too little to learn from.
pub(super) fn train(samples: &[Vec<u8>]) -> Vec<u8> {
    /// What the library recommends for small records.
    const DICTIONARY_BYTES_MAX: usize = 110 * 1024;
    /// Below this a dictionary is larger than what it saves.
    const SAMPLE_BYTES_MIN: usize = 1024 * 1024;
    let bytes: usize = samples.iter().map(Vec::len).sum();
    if bytes < SAMPLE_BYTES_MIN {
        return Vec::new();
    }
    // Training fails on data without repetition; records then do without.
    zstd::dict::from_samples(samples, DICTIONARY_BYTES_MAX).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(records: &[&[u8]], compressed: bool) -> Vec<u8> {
        let mut writer = if compressed {
            RecordWriter::compressed(Vec::new(), Vec::new())
        } else {
            RecordWriter::plain(Vec::new())
        };
        for record in records {
            writer.push(record).unwrap();
        }
        writer.finish().unwrap()
    }

    fn open(bytes: Vec<u8>, compressed: bool) -> Result<RecordReader, IndexError> {
        RecordReader::open("sample", &FileSlice::from(bytes), compressed)
    }

    #[test]
    fn records_come_back() {
        for compressed in [false, true] {
            let records: [&[u8]; 3] = [b"first", b"", &[7; 10_000]];
            let reader = open(sample(&records, compressed), compressed).unwrap();
            assert_eq!(reader.len(), 3);
            for (number, record) in records.iter().enumerate() {
                assert_eq!(reader.get(number).unwrap().as_slice(), *record);
            }
            assert!(reader.get(3).is_err());
            assert_eq!(open(sample(&[], compressed), compressed).unwrap().len(), 0);
        }
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_found() {
        for compressed in [false, true] {
            let whole = sample(&[b"one record", b"another record"], compressed);
            for at in 0..whole.len() {
                let mut flipped = whole.clone();
                flipped[at] ^= 0x20;
                let read = open(flipped, compressed).and_then(|reader| {
                    let both = (reader.get(0)?, reader.get(1)?);
                    Ok((both.0.to_vec(), both.1.to_vec()))
                });
                if let Ok(read) = read {
                    assert_eq!(read, (b"one record".to_vec(), b"another record".to_vec()));
                }
                assert!(
                    open(whole[..at].to_vec(), compressed).is_err(),
                    "cut at {at}"
                );
            }
        }
    }
}
